// Files are written completely and then renamed, so that a killed run leaves the last complete version.
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

// The file system: Boost.Filesystem under the name `fs`.
//
// Unlike std::filesystem, Boost 1.74 appends an absolute path to a folder instead of replacing it, and
// normalises "a/" to end in a dot. Paths from users or files therefore go through the two functions below.

namespace fs = boost::filesystem;
using boost::system::error_code;

// Resolves `path` relative to `folder`; an absolute path is unchanged.
fs::path seen_from(const fs::path& folder, const fs::path& path);

// Removes `.`, `..` and a trailing separator without accessing the disk, so that different spellings of a
// path become equal.
fs::path plain(const fs::path& path);

// Writes to a temporary file in the same folder, syncs it, renames it to `path` and syncs the folder
// (part_files.h). Throws Exit::does_not_fit if the disk is full, Exit::failed for other errors; the old file
// then remains and the temporary one is removed.
void write_file(const fs::path& path, std::string_view content);

// For content produced in chunks: `produce` receives a function that appends bytes.
using Append = std::function<void(const void* bytes, std::size_t size)>;
void write_file(const fs::path& path, const std::function<void(const Append&)>& produce);

// For libraries that write to a path themselves: `produce` receives the temporary path (with the extension of
// `path`), which is renamed when it returns and removed when it throws.
void write_through(const fs::path& path, const std::function<void(const fs::path& temporary)>& produce);

// For messages about a path that does not exist: " (did you mean 'runs/study'?)" if a file or folder has a
// similar name, else nothing.
enum class Among { folders, files_and_folders };
std::string did_you_mean(const fs::path& path, Among among = Among::files_and_folders);
// "no such folder", with such a suggestion.
std::string no_such_folder(const fs::path& path);

// The whole file, or its first bytes. Throws Exit::bad_data if there is no readable file, Exit::failed for a
// device error and Exit::does_not_fit if memory is exhausted; read errors are never mistaken for the end of
// the file.
std::string read_file(const fs::path& path, std::size_t most_bytes = std::numeric_limits<std::size_t>::max());

// The whole file, or an empty string if it cannot be read.
std::string read_if_possible(const fs::path& path);

// Opens a file for reading; all readers use this function. Rejects pipes, sockets and devices, for which
// open(2) or read(2) could block. Throws like read_file().
Descriptor open_file(const fs::path& path);

// Throws for a failure to read `path`, by the same rules.
[[noreturn]] void fail_reading(const fs::path& path, int system_error);

// Names become text in tables, JSON and pictures, so they must be UTF-8. Otherwise throws NotUtf8 with
// `exit`: Exit::bad_data for a listed file, Exit::usage for a name in an option.
struct NotUtf8 : Error {
  using Error::Error;
};
void check_name(const fs::path& path, Exit exit);

// Creates the folder and its parents. Throws Exit::usage if its name is not UTF-8, Exit::does_not_fit if the
// disk is full, otherwise Exit::failed with the reason.
void make_directories(const fs::path& directory);

// Creates the folder and checks that it is writable; otherwise throws Exit::failed with the reason. Removes
// temporary files of killed processes (part_files.h).
void make_writable_directory(const fs::path& directory);

// 128-bit XXH3 as 32 hexadecimal digits, for cache keys; not cryptographically secure.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;
  Hasher& add(const void* bytes, std::size_t size);
  Hasher& add(std::string_view text);      // length first, so that ("ab","c") differs from ("a","bc")
  Hasher& add_file(const fs::path& path);  // content of the file
  std::string digest() const;

 private:
  void* state_;
};

}  // namespace voxswap
