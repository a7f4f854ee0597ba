// Reads a file in small parts. A failing device is reported as such, and never taken for the end of the file.
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
  // Throws as read_file() does where it cannot be opened.
  explicit FileBytes(const fs::path& path);

  // All `size` bytes from here on; false where the file ends before, and then nothing more can be read until
  // seek().
  bool read(void* bytes, std::int64_t size);
  void seek(std::int64_t offset);
  std::int64_t position() const { return at_; }
  bool ended() const { return ended_; }

 private:
  std::int64_t take(char* bytes, std::int64_t size);  // how many were there

  fs::path path_;
  Descriptor file_;
  std::vector<char> piece_;  // what lies from piece_begin_ on
  std::int64_t piece_begin_ = 0, at_ = 0;
  bool ended_ = false;
};

// Numbers in the byte order of other machines.
template <class T>
T swap_bytes(T value) {
  std::array<char, sizeof(T)> bytes;
  std::memcpy(bytes.data(), &value, sizeof(T));
  std::reverse(bytes.begin(), bytes.end());
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

}  // namespace voxswap::data
