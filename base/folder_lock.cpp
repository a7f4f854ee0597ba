#include "base/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/file.h"
#include "base/held_folders.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/part_files.h"
#include "base/temporary_file.h"

namespace voxswap {

namespace {

// False if the previous holder removed the file between open() and flock().
bool has_name(int descriptor, const fs::path& file) {
  struct stat open = {}, named = {};
  return ::fstat(descriptor, &open) == 0 && ::stat(file.c_str(), &named) == 0 &&
         open.st_ino == named.st_ino && open.st_dev == named.st_dev;
}

std::string holder_of(int descriptor) {
  char text[32] = {};
  const ssize_t size = ::pread(descriptor, text, sizeof text - 1, 0);
  const std::string pid = trim(std::string_view(text, size > 0 ? static_cast<std::size_t>(size) : 0));
  return pid.empty() ? "" : format(" (process {})", pid);
}

}  // namespace

FolderLock::FolderLock(const fs::path& folder, bool patient)
    : folder_(plain(fs::absolute(folder))), file_(folder_ / ".lock") {
  error_code ignored;
  for (fs::path missing = folder_; !fs::exists(missing, ignored) && missing.has_relative_path();
       missing = missing.parent_path())
    made_.push_back(missing);
  try {
    make_writable_directory(folder_);
    while (!try_to_hold(patient)) {
    }
    hold_folder(folder_.string());
  } catch (...) {
    if (descriptor_ >= 0) ::close(descriptor_);
    remove_made();
    throw;
  }
  remove_abandoned(folder_.string(), 2);  // the depth of a run's folder
}

FolderLock::~FolderLock() {
  release_folder(folder_.string());
  ::unlink(file_.c_str());
  ::close(descriptor_);
  remove_made();
}

bool FolderLock::try_to_hold(bool patient) {
  descriptor_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail(Exit::failed, "{}: cannot be written: {}", file_.string(), std::strerror(errno));
  const auto lock = [&] { return uninterrupted([&] { return ::flock(descriptor_, LOCK_EX | LOCK_NB); }); };
  int status = lock();
  if (patient && status != 0 && errno == EWOULDBLOCK)
    log::info("{}: waiting until another voxswap{} ends", folder_.string(), holder_of(descriptor_));
  while (patient && status != 0 && errno == EWOULDBLOCK) {
    throw_if_interrupted();
    ::usleep(200'000);
    status = lock();
  }
  if (status != 0 && errno == EWOULDBLOCK)
    fail(Exit::failed,
         "{}: another voxswap{} is writing there. Wait until it ends, or write to another folder",
         folder_.string(), holder_of(descriptor_));
  if (status != 0)
    log::warn("{}: cannot be locked: {}. Make sure that no other program writes there", folder_.string(),
              std::strerror(errno));
  if (!has_name(descriptor_, file_)) {
    ::close(descriptor_);
    descriptor_ = -1;
    return false;
  }
  const std::string me = std::to_string(::getpid()) + "\n";
  if (::ftruncate(descriptor_, 0) != 0 || ::pwrite(descriptor_, me.data(), me.size(), 0) < 0)
    log::debug("{}: {}", file_.string(), std::strerror(errno));  // the process id is only informative
  return true;
}

void FolderLock::remove_made() {
  error_code ignored;  // folders that are not empty stay
  for (const fs::path& one : made_) fs::remove(one, ignored);
}

bool is_held(const fs::path& folder) {
  return is_locked(folder / ".lock");
}

bool is_locked(const fs::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return false;
  const bool locked = ::flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(descriptor);
  return locked;
}

bool holds_anything(const fs::path& folder) {
  error_code error;
  if (!fs::is_directory(folder, error)) return fs::exists(folder, error);
  for (const auto& entry : fs::directory_iterator(folder))
    if (!entry.path().filename().string().starts_with(".")) return true;
  return false;
}

void fill_folder(const fs::path& folder, const std::function<void(const fs::path&)>& produce) {
  if (holds_anything(folder))
    fail(Exit::usage, "{}: is not empty. Choose a new folder with --out DIR, or remove it", folder.string());
  make_writable_directory(folder);
  const TemporaryFile lock(folder / "content.folder", /*with_extension=*/true);
  const fs::path part = lock.path().parent_path();
  try {
    produce(part);
  } catch (const Error& error) {  // the user knows the folder only
    std::string text = error.what();
    const std::string hidden = "/" + part.filename().string();
    for (std::size_t at; (at = text.find(hidden)) != text.npos;) text.erase(at, hidden.size());
    throw Error(error.exit(), text);
  }
  const std::vector<fs::path> made{fs::directory_iterator(part), fs::directory_iterator()};
  for (const fs::path& one : made)
    if (one != lock.path()) fs::rename(one, folder / one.filename());
}

}  // namespace voxswap
