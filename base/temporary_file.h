// A file that is written beside its final place, synced and renamed, and then its folder is synced, so that
// neither a kill nor a power cut leaves half of it.
//
// It is locked while it is written. Those of processes that were killed are therefore known by having no
// lock; they are removed by whoever writes into the same folder next.
#pragma once

#include "base/descriptor.h"
#include "base/file.h"

namespace voxswap {

class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& target);
  ~TemporaryFile();  // removes it unless it was committed
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const fs::path& path() const { return path_; }  // with the target's extension
  void append(const void* bytes, std::size_t size);
  void commit();

 private:
  fs::path target_, path_;
  Descriptor file_;
  bool committed_ = false;
};

// Throws what has become of writing `path`: Exit::does_not_fit where disk or memory ran out, else
// Exit::failed.
[[noreturn]] void fail_writing(const fs::path& path, int system_error);

}  // namespace voxswap
