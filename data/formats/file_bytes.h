// Reads a file in small blocks. A device failure is reported as such, not treated as the end of the file.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/descriptor.h"
#include "base/file.h"

namespace voxswap::data {

class FileBytes {
 public:
  // Throws like read_file() if it cannot be opened.
  explicit FileBytes(const fs::path& path);

  // Reads all `size` bytes at the position; false if the file ends earlier, after which reads fail until
  // seek().
  bool read(void* bytes, std::int64_t size);
  void seek(std::int64_t offset);
  std::int64_t position() const { return at_; }
  bool ended() const { return ended_; }

 private:
  std::int64_t take(char* bytes, std::int64_t size);  // returns the number of bytes read

  fs::path path_;
  Descriptor file_;
  std::vector<char> buffer_;  // buffered bytes from buffer_begin_
  std::int64_t buffer_begin_ = 0, at_ = 0;
  bool ended_ = false;
};

// Converts a number from the other byte order.
template <class T>
T swap_bytes(T value) {
  std::array<char, sizeof(T)> bytes;
  std::memcpy(bytes.data(), &value, sizeof(T));
  std::reverse(bytes.begin(), bytes.end());
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

}  // namespace voxswap::data
