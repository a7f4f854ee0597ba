#include "base/temporary_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>

#include "base/file.h"

namespace voxswap {

namespace {

constexpr const char* prefix = ".voxswap-";

// Short whatever the target is called, so that a name that the file system takes stays one; libraries go by
// the extension.
fs::path neighbour(const fs::path& target) {
  static std::atomic<int> count = 0;
  std::string extension = target.extension().string();
  if (extension == ".gz") extension = target.stem().extension().string() + extension;
  if (extension.size() > 16) extension.clear();
  return target.parent_path() / format("{}{}-{}.part{}", prefix, ::getpid(), count++, extension);
}

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

// True: this process may have it. Where locks are not known nobody's is ever taken for abandoned.
bool lock(const Descriptor& file) {
  return ::flock(file.number(), LOCK_EX | LOCK_NB) == 0;
}

// What processes that were killed left in a folder. Whatever fails here fails nobody.
void remove_abandoned(const fs::path& folder) {
  static std::mutex mutex;
  static std::set<fs::path> looked_at;  // by this process
  const std::lock_guard guard(mutex);
  if (!looked_at.insert(folder).second) return;
  // Not by a library's iterator, which ends the program where memory runs out.
  struct Close {
    void operator()(DIR* open) const { ::closedir(open); }
  };
  const std::unique_ptr<DIR, Close> open(::opendir(folder.c_str()));
  if (!open) return;
  while (const dirent* entry = ::readdir(open.get())) {
    const std::string name = entry->d_name;
    if (!name.starts_with(prefix) || name.find(".part") == name.npos) continue;
    const Descriptor file((folder / name).string(), O_RDWR | O_NOFOLLOW | O_NONBLOCK);
    if (file.is_open() && lock(file)) ::unlink((folder / name).c_str());
  }
}

}  // namespace

void fail_writing(const fs::path& path, int system_error) {
  const Exit exit = exit_of(system_error);
  const char* advice = exit != Exit::does_not_fit ? ""
                       : system_error == ENOMEM   ? ". End other programs and run again with --resume"
                                                  : ". Free some space and run again with --resume";
  fail(exit, "{}: cannot be written: {}. The previous version, if there is one, is unchanged{}",
       path.string(), std::strerror(system_error), advice);
}

TemporaryFile::TemporaryFile(const fs::path& target) : target_(target) {
  remove_abandoned(folder_of(target));
  // Another process may find it before it has its lock, and remove it.
  for (bool removed = true; removed;) {
    path_ = neighbour(target);
    file_ = Descriptor(path_.string(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW);
    if (!file_.is_open()) fail_writing(target_, file_.error());
    struct stat status {};
    removed = (!lock(file_) && errno == EWOULDBLOCK) ||
              (::fstat(file_.number(), &status) == 0 && status.st_nlink == 0);
  }
}

TemporaryFile::~TemporaryFile() {
  if (!committed_) ::unlink(path_.c_str());
}

void TemporaryFile::append(const void* bytes, std::size_t size) {
  if (const int error = write_all(file_.number(), bytes, size); error != 0) fail_writing(target_, error);
}

void TemporaryFile::commit() {
  if (const int error = sync(file_.number()); error != 0) fail_writing(target_, error);
  // The lock goes with the name: without it another process would take the file for abandoned.
  if (::rename(path_.c_str(), target_.c_str()) != 0) fail_writing(target_, errno);
  committed_ = true;
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
  TemporaryFile file(path);
  produce(file.path());
  file.commit();
}

}  // namespace voxswap
