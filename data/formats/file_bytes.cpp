#include "data/formats/file_bytes.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/file.h"

namespace voxswap::data {

namespace {

constexpr std::int64_t buffer_bytes = 1 << 14;

}  // namespace

FileBytes::FileBytes(const fs::path& path) : path_(path), file_(open_file(path)) {}

void FileBytes::seek(std::int64_t offset) {
  at_ = offset;
  ended_ = false;
}

std::int64_t FileBytes::take(char* bytes, std::int64_t size) {
  if (::lseek(file_.number(), at_, SEEK_SET) < 0) fail_reading(path_, errno);
  const ssize_t got = read_up_to(file_.number(), bytes, static_cast<std::size_t>(size));
  if (got < 0) fail_reading(path_, errno);
  return got;
}

bool FileBytes::read(void* bytes, std::int64_t size) {
  if (ended_) return false;
  if (size >= buffer_bytes) {  // long reads bypass the buffer
    ended_ = take(static_cast<char*>(bytes), size) < size;
  } else {
    const auto buffer_end = [&] { return buffer_begin_ + static_cast<std::int64_t>(buffer_.size()); };
    if (at_ < buffer_begin_ || at_ + size > buffer_end()) {
      buffer_.resize(buffer_bytes);
      buffer_.resize(static_cast<std::size_t>(take(buffer_.data(), buffer_bytes)));
      buffer_begin_ = at_;
    }
    ended_ = at_ + size > buffer_end();
    if (!ended_) std::memcpy(bytes, buffer_.data() + (at_ - buffer_begin_), static_cast<std::size_t>(size));
  }
  if (!ended_) at_ += size;
  return !ended_;
}

}  // namespace voxswap::data
