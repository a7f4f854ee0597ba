#include "base/temporary_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/own_folder.h"
#include "base/part_files.h"
#include "base/text.h"

namespace voxswap {

namespace {

std::string extension_of(const fs::path& target) {
  std::string extension = lower(target.extension().string());  // ITK takes no others
  if (extension == ".gz") extension = lower(target.stem().extension().string()) + extension;
  return extension.size() > 16 ? "" : extension;
}

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

}  // namespace

void fail_writing(const fs::path& path, int system_error) {
  const Exit exit = exit_of(system_error);
  const char* advice = exit != Exit::does_not_fit ? ""
                       : system_error == ENOMEM   ? ". End other programs and run the command again"
                                                  : ". Free some space and run the command again";
  fail(exit, "{}: cannot be written: {}. The previous version, if there is one, is unchanged{}",
       path.string(), system_error == ENOENT ? "its folder was removed" : std::strerror(system_error),
       advice);
}

TemporaryFile::TemporaryFile(const fs::path& target, bool with_extension) : target_(target) {
  remove_abandoned(folder_of(target).string());
  while (!try_to_make(with_extension ? extension_of(target) : "")) {
  }
}

// Returns false if the name exists, or another process considered the file abandoned before it was locked.
bool TemporaryFile::try_to_make(const std::string& extension) {
  path_ = folder_of(target_) / new_part_name();
  folder_ = extension.empty() ? fs::path() : path_;
  if (!folder_.empty()) {
    if (::mkdir(folder_.c_str(), 0777) != 0) {
      if (errno == EEXIST) return false;
      fail_writing(target_, errno);
    }
    path_ /= std::string(part_content) + extension;
  }
  file_ = Descriptor(path_.string(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
  if (!file_.is_open()) {
    const bool removed = file_.error() == ENOENT && !folder_.empty();
    if (removed || file_.error() == EEXIST) return false;
    remove_folder();
    fail_writing(target_, file_.error());
  }
  struct stat status {};
  return (lock_part(file_) || errno != EWOULDBLOCK) &&
         (::fstat(file_.number(), &status) != 0 || status.st_nlink > 0);
}

TemporaryFile::~TemporaryFile() {
  if (committed_) return;
  ::unlink(path_.c_str());
  remove_folder();
}

void TemporaryFile::remove_folder() {
  error_code ignored;
  if (!folder_.empty() && ::rmdir(folder_.c_str()) != 0) fs::remove_all(folder_, ignored);
}

void TemporaryFile::append(const void* bytes, std::size_t size) {
  if (const int error = write_all(file_.number(), bytes, size); error != 0) fail_writing(target_, error);
}

void TemporaryFile::commit() {
  if (const int error = sync(file_.number()); error != 0) fail_writing(target_, error);
  keep_others(target_);
  note_written(path_, target_);
  // Rename before closing, which releases the lock: without it another process would consider the file
  // abandoned.
  if (::rename(path_.c_str(), target_.c_str()) != 0) fail_writing(target_, errno);
  committed_ = true;
  remove_folder();
  if (const int error = file_.close(); error != 0) fail_writing(target_, error);
  if (const int error = sync_folder(folder_of(target_).string()); error != 0) fail_writing(target_, error);
}

void write_file(const fs::path& path, std::string_view content) {
  TemporaryFile file(path);
  file.append(content.data(), content.size());
  file.commit();
}

void write_file(const fs::path& path, const std::function<void(const Append&)>& produce) {
  TemporaryFile file(path);
  produce([&](const void* bytes, size_t size) { file.append(bytes, size); });
  file.commit();
}

void write_through(const fs::path& path, const std::function<void(const fs::path&)>& produce) {
  TemporaryFile file(path, true);
  produce(file.path());
  file.commit();
}

}  // namespace voxswap
