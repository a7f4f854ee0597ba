#include "base/descriptor.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace voxswap {

Exit exit_of(int system_error) {
  switch (system_error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case ENOMEM:
      return Exit::does_not_fit;
    default:
      return Exit::failed;
  }
}

Descriptor::Descriptor(const std::string& path, int flags) {
  number_ = uninterrupted([&] { return ::open(path.c_str(), flags | O_CLOEXEC, 0666); });
  if (number_ < 0) error_ = errno;
}

Descriptor::~Descriptor() {
  close();
}

Descriptor::Descriptor(Descriptor&& other) noexcept
    : number_(std::exchange(other.number_, -1)), error_(other.error_) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  std::swap(error_, other.error_);
  return *this;
}

int Descriptor::release() {
  return std::exchange(number_, -1);
}

int Descriptor::close() {
  if (number_ < 0) return 0;
  // Linux has closed the descriptor even when close() reports an interruption.
  const int result = ::close(std::exchange(number_, -1));
  return result == 0 || errno == EINTR ? 0 : errno;
}

int write_all(int descriptor, const void* bytes, std::size_t size) {
  const char* position = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t written = uninterrupted([&] { return ::write(descriptor, position, size); });
    if (written < 0) return errno;
    if (written == 0) return EIO;  // never happens for a regular file
    position += written;
    size -= static_cast<std::size_t>(written);
  }
  return 0;
}

ssize_t read_up_to(int descriptor, void* bytes, std::size_t size) {
  char* position = static_cast<char*>(bytes);
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = uninterrupted([&] { return ::read(descriptor, position + done, size - done); });
    if (got < 0) return -1;
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return static_cast<ssize_t>(done);
}

int sync(int descriptor) {
  const int result = uninterrupted([&] { return ::fsync(descriptor); });
  // Pipes, devices and some network file systems have nothing to sync.
  return result == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP ? 0 : errno;
}

int sync_folder(const std::string& folder) {
  const Descriptor open(folder, O_RDONLY | O_DIRECTORY);
  if (open.is_open()) return sync(open.number());
  return open.error() == EACCES ? 0 : open.error();  // a folder may be writable but not readable
}

}  // namespace voxswap
