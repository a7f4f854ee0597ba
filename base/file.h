// Files that are written whole and renamed into place: a killed run leaves the last complete version, never
// half of one.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "base/filesystem.h"

namespace voxswap {

// Writes to a temporary neighbour, syncs it, renames it over `path` and syncs the folder (temporary_file.h).
// Throws Exit::does_not_fit when the disk is full, Exit::failed on any other trouble; the old file then stays
// and the temporary one is removed.
void write_file(const fs::path& path, std::string_view content);

// The same for content made in pieces: `produce` is handed a function that appends bytes.
using Append = std::function<void(const void* bytes, std::size_t size)>;
void write_file(const fs::path& path, const std::function<void(const Append&)>& produce);

// For libraries that insist on writing a path themselves: `produce` gets the temporary path (same extension
// as `path`), which is renamed into place when it returns and removed when it throws.
void write_through(const fs::path& path, const std::function<void(const fs::path& temporary)>& produce);

// The whole file, or its first bytes. Throws Exit::bad_data when there is none that may be read, Exit::failed
// when the device fails and Exit::does_not_fit when memory does: what could not be read is never taken for
// the end.
std::string read_file(const fs::path& path, std::size_t most_bytes = std::numeric_limits<std::size_t>::max());

// Throws what has become of reading `path`, by the same rules.
[[noreturn]] void fail_reading(const fs::path& path, int system_error);

// With those above it. Throws Exit::does_not_fit when the disk is full, else Exit::failed with the reason.
void make_directories(const fs::path& directory);

// Makes the directory and checks that a file can be written there; throws Exit::failed with the reason
// otherwise.
void make_writable_directory(const fs::path& directory);

// 128-bit XXH3 as 32 hexadecimal digits: keys of caches, not a protection against anybody.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;
  Hasher& add(const void* bytes, std::size_t size);
  Hasher& add(std::string_view text);      // length first, so that ("ab","c") differs from ("a","bc")
  Hasher& add_file(const fs::path& path);  // its bytes
  std::string digest() const;

 private:
  void* state_;
};

}  // namespace voxswap
