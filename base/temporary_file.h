// A file that is written beside its final place, synced and renamed, and then its folder is synced, so that
// neither a kill nor a power cut leaves half of it.
//
// Until then its name and lock are those of part_files.h.
#pragma once

#include "base/descriptor.h"
#include "base/file.h"

namespace voxswap {

class TemporaryFile {
 public:
  // `with_extension`, for libraries that go by it: a folder has that name, and in it is a file with the
  // target's extension.
  explicit TemporaryFile(const fs::path& target, bool with_extension = false);
  ~TemporaryFile();  // removes it unless it was committed
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const fs::path& path() const { return path_; }
  void append(const void* bytes, std::size_t size);
  void commit();

 private:
  bool try_to_make(const std::string& extension);
  void remove_folder();

  fs::path target_, folder_, path_;
  Descriptor file_;
  bool committed_ = false;
};

// Throws what has become of writing `path`: Exit::does_not_fit where disk or memory ran out, else
// Exit::failed.
[[noreturn]] void fail_writing(const fs::path& path, int system_error);

}  // namespace voxswap
