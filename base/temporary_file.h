// A file that is written to a temporary name, synced and renamed, after which its folder is synced, so that
// neither a kill nor a power cut leaves an incomplete file. Temporary names and locks: part_files.h.
#pragma once

#include "base/descriptor.h"
#include "base/file.h"

namespace voxswap {

class TemporaryFile {
 public:
  // `with_extension`: for libraries that need the target's extension; the temporary name is then a folder
  // that contains a file with this extension. Whatever else it contains at the end is removed.
  explicit TemporaryFile(const fs::path& target, bool with_extension = false);
  ~TemporaryFile();  // removes the file unless committed
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

// Throws for a failure to write `path`: Exit::does_not_fit if disk or memory is exhausted, otherwise
// Exit::failed.
[[noreturn]] void fail_writing(const fs::path& path, int system_error);

}  // namespace voxswap
