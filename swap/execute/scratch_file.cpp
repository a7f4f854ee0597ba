// The scratch file on POSIX: created without a name where the file system supports it, otherwise unlinked at
// once.
#include "swap/execute/scratch_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <string>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/file.h"
#include "base/keys.h"
#include "base/text.h"
#include "base/units.h"
#include "swap/plan/plan.h"

namespace voxswap::swap {
namespace {

int open_nameless(const fs::path& folder) {
  int descriptor = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
    std::string name = (folder / ".voxswap_scratch_XXXXXX").string();
    descriptor = mkostemp(name.data(), O_CLOEXEC);
    if (descriptor >= 0) unlink(name.c_str());
  }
  if (descriptor < 0)
    fail(Exit::failed, "{}: no scratch file can be created here: {}. Choose another folder in {}",
         folder.string(), std::strerror(errno), key::memory_disk_path);
  return descriptor;
}

// Free bytes of the disk, or the process limit for one file if that is less.
std::int64_t room(int descriptor) {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::uint64_t free = most;
  if (struct statvfs disk{}; fstatvfs(descriptor, &disk) == 0)
    free = std::min(free, static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize);
  if (rlimit limit{}; getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    free = std::min(free, static_cast<std::uint64_t>(limit.rlim_cur));
  return static_cast<std::int64_t>(free);
}

[[noreturn]] void fail_room(const fs::path& folder, std::int64_t bytes, std::int64_t free) {
  fail(Exit::does_not_fit,
       "{}: the scratch file needs {}, but {} are free. Lower the budget of {}, choose another folder in {} "
       "or free some space",
       folder.string(), format_bytes(bytes), format_bytes(free), key::memory_disk, key::memory_disk_path);
}

// posix_fallocate also works on file systems without reservation, by writing.
void reserve(int descriptor, const fs::path& folder, std::int64_t bytes) {
  if (const std::int64_t free = room(descriptor); bytes > free) fail_room(folder, bytes, free);
  if (bytes == 0) return;
  int code = 0;
  uninterrupted([&] {
    errno = code = posix_fallocate(descriptor, 0, bytes);  // which returns the error number
    return code == 0 ? 0 : -1;
  });
  if (code == ENOSPC || code == EDQUOT || code == EFBIG) fail_room(folder, bytes, room(descriptor));
  if (code != 0)
    fail(Exit::failed, "{}: {} cannot be reserved for the scratch file: {}", folder.string(),
         format_bytes(bytes), std::strerror(code));
}

// Some file systems take the flag and refuse the access, so an access is tried.
bool go_direct(int descriptor, std::int64_t bytes) {
  constexpr auto unit = static_cast<std::size_t>(disk_block);
  const int flags = fcntl(descriptor, F_GETFL);
  if (bytes == 0 || flags < 0 || fcntl(descriptor, F_SETFL, flags | O_DIRECT) != 0) return false;
  void* block = ::operator new (unit, std::align_val_t{unit});
  std::memset(block, 0, unit);
  const bool works = pwrite(descriptor, block, unit, 0) == static_cast<ssize_t>(unit);
  ::operator delete (block, std::align_val_t{unit});
  if (!works) fcntl(descriptor, F_SETFL, flags);
  return works;
}

[[noreturn]] void fail_access(const fs::path& folder, const char* what, std::int64_t offset,
                              std::int64_t size, int code) {
  const bool full = code == ENOSPC || code == EDQUOT || code == EFBIG;
  fail(full ? Exit::does_not_fit : Exit::failed, "{}: {} {} at {} of the scratch file failed: {}{}",
       folder.string(), what, format_bytes(size), offset, code == 0 ? "it ended early" : std::strerror(code),
       full ? format(". Free some space or choose another folder in {}", key::memory_disk_path) : "");
}

}  // namespace

ScratchFile::ScratchFile(const fs::path& folder, std::int64_t bytes)
    : folder_(folder), bytes_(whole_blocks(bytes)) {
  descriptor_ = open_nameless(folder_);
  try {
    reserve(descriptor_, folder_, bytes_);
  } catch (...) {
    close(descriptor_);
    throw;
  }
  direct_ = go_direct(descriptor_, bytes_);
}

ScratchFile::~ScratchFile() {
  if (mapped_ != nullptr) munmap(mapped_, static_cast<std::size_t>(bytes_));
  close(descriptor_);
}

std::byte* ScratchFile::map() {
  if (mapped_ == nullptr) {
    void* const place =
        mmap(nullptr, static_cast<std::size_t>(bytes_), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
    if (place == MAP_FAILED)
      fail(Exit::failed, "{}: the scratch file of {} cannot be mapped: {}", folder_.string(),
           format_bytes(bytes_), std::strerror(errno));
    mapped_ = place;
  }
  return static_cast<std::byte*>(mapped_);
}

void ScratchFile::release() {
  if (mapped_ != nullptr) madvise(mapped_, static_cast<std::size_t>(bytes_), MADV_DONTNEED);
}

void ScratchFile::write(std::int64_t offset, const std::byte* from, std::int64_t size) {
  // The system's pwrite takes its source as const; transfer() serves both directions.
  transfer(true, offset, const_cast<std::byte*>(from), size);
}

void ScratchFile::read(std::int64_t offset, std::byte* to, std::int64_t size) {
  transfer(false, offset, to, size);
}

void ScratchFile::transfer(bool writing, std::int64_t offset, std::byte* memory, std::int64_t size) {
  const char* what = writing ? "writing" : "reading";
  if (offset < 0 || size < 0 || size > bytes_ - offset || offset % disk_block != 0 ||
      size % disk_block != 0 || reinterpret_cast<std::uintptr_t>(memory) % disk_block != 0)
    fail(Exit::failed, "{}: {} {} at {} of a scratch file of {}: out of range, or not aligned to {}",
         folder_.string(), what, counted(size, "byte"), offset, bytes_, disk_block);
  for (std::int64_t done = 0; done < size;) {
    const auto left = static_cast<std::size_t>(size - done);
    const ssize_t moved = uninterrupted([&] {
      return writing ? pwrite(descriptor_, memory + done, left, offset + done)
                     : pread(descriptor_, memory + done, left, offset + done);
    });
    if (moved < 0) fail_access(folder_, what, offset, size, errno);
    // A short transfer may end anywhere, but direct access must continue at a block.
    const std::int64_t whole = static_cast<std::int64_t>(moved) / disk_block * disk_block;
    if (whole == 0) fail_access(folder_, what, offset, size, 0);
    done += whole;
  }
}

}  // namespace voxswap::swap
