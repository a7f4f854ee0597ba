// Files that are written whole and renamed into place: a killed run leaves the last complete version, never
// half of one.
#pragma once

#include <boost/filesystem.hpp>
#include <boost/filesystem/fstream.hpp>
#include <boost/system/error_code.hpp>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "voxswap/error.h"

namespace voxswap {

class Descriptor;

// The file system: Boost.Filesystem under the name `fs`, which the whole project uses.
//
// Unlike std::filesystem, Boost 1.74 puts an absolute path behind a folder instead of in its place, and ends
// the normal form of "a/" in a dot. Paths that a user or a file gave therefore go through the two functions
// below.

namespace fs = boost::filesystem;
using boost::system::error_code;

// `path` as seen from `folder`: an absolute path stands as it is.
fs::path seen_from(const fs::path& folder, const fs::path& path);

// Without `.`, `..` and a separator at the end: of two paths that are spelt differently but lead the same
// way, without a look at the disk, the same one.
fs::path plain(const fs::path& path);

// Writes to a temporary neighbour, syncs it, renames it over `path` and syncs the folder (part_files.h).
// Throws Exit::does_not_fit when the disk is full, Exit::failed on any other trouble; the old file then stays
// and the temporary one is removed.
void write_file(const fs::path& path, std::string_view content);

// The same for content made in pieces: `produce` is handed a function that appends bytes.
using Append = std::function<void(const void* bytes, std::size_t size)>;
void write_file(const fs::path& path, const std::function<void(const Append&)>& produce);

// For libraries that insist on writing a path themselves: `produce` gets the temporary path (same extension
// as `path`), which is renamed into place when it returns and removed when it throws.
void write_through(const fs::path& path, const std::function<void(const fs::path& temporary)>& produce);

// "no such folder", and one beside it with a similar name: "no such folder (did you mean 'runs/study'?)".
std::string no_such_folder(const fs::path& path);

// The whole file, or its first bytes. Throws Exit::bad_data when there is none that may be read, Exit::failed
// when the device fails and Exit::does_not_fit when memory does: what could not be read is never taken for
// the end.
std::string read_file(const fs::path& path, std::size_t most_bytes = std::numeric_limits<std::size_t>::max());

// The same, or nothing where it cannot be read.
std::string read_if_possible(const fs::path& path);

// A file opened for reading; nothing else opens one. Pipes, sockets and devices, for which open(2) or read(2)
// would wait, are refused at once. Throws as read_file() does.
Descriptor open_file(const fs::path& path);

// Throws what has become of reading `path`, by the same rules.
[[noreturn]] void fail_reading(const fs::path& path, int system_error);

// Names become text in tables, JSON and pictures, so they have to be UTF-8. Throws NotUtf8 where one is not,
// with Exit::bad_data for a file that is listed, Exit::usage for one that an option names.
struct NotUtf8 : Error {
  using Error::Error;
};
void check_name(const fs::path& path, Exit exit);

// With those above it. Throws Exit::usage when its name is not UTF-8, Exit::does_not_fit when the disk is
// full, else Exit::failed with the reason.
void make_directories(const fs::path& directory);

// Makes the directory and checks that a file can be written there; throws Exit::failed with the reason
// otherwise. Removes what killed processes left there (part_files.h).
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
