#include "data/formats/file_bytes.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/file.h"

namespace voxswap::data {

namespace {

constexpr std::int64_t piece_size = 1 << 14;

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
  if (size >= piece_size) {  // long reads bypass the buffer
    ended_ = take(static_cast<char*>(bytes), size) < size;
  } else {
    const auto held = [&] { return piece_begin_ + static_cast<std::int64_t>(piece_.size()); };
    if (at_ < piece_begin_ || at_ + size > held()) {
      piece_.resize(piece_size);
      piece_.resize(static_cast<std::size_t>(take(piece_.data(), piece_size)));
      piece_begin_ = at_;
    }
    ended_ = at_ + size > held();
    if (!ended_) std::memcpy(bytes, piece_.data() + (at_ - piece_begin_), static_cast<std::size_t>(size));
  }
  if (!ended_) at_ += size;
  return !ended_;
}

}  // namespace voxswap::data
