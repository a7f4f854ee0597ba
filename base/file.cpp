#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <vector>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/held_folders.h"
#include "base/part_files.h"
#include "base/text.h"

namespace voxswap {

namespace {

Exit exit_of_reading(int system_error) {
  switch (system_error) {
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case EACCES:
    case ELOOP:
    case ENAMETOOLONG:
      return Exit::bad_data;
    default:
      return exit_of(system_error);
  }
}

// Passes the bytes of a file, at most `most`, to `take` in chunks.
template <class Take>
void read_chunks(const fs::path& path, std::size_t most, Take take) {
  const Descriptor file = open_file(path);
  std::array<char, 1 << 16> buffer;  // not set to zero: many files are small
  while (most > 0) {
    const ssize_t got = read_up_to(file.number(), buffer.data(), std::min(most, buffer.size()));
    if (got < 0) fail_reading(path, errno);
    if (got == 0) return;
    take(buffer.data(), static_cast<std::size_t>(got));
    most -= static_cast<std::size_t>(got);
  }
}

}  // namespace

void fail_reading(const fs::path& path, int system_error) {
  fail(exit_of_reading(system_error), "{}: cannot be read: {}", path.string(),
       system_error == ENOENT   ? "no such file"
       : system_error == EISDIR ? "it is a folder"
                                : std::strerror(system_error));
}

Descriptor open_file(const fs::path& path) {
  Descriptor file(path.string(), O_RDONLY | O_NONBLOCK);
  if (!file.is_open() && file.error() != ENXIO) fail_reading(path, file.error());
  struct stat status {};
  if (file.is_open() && ::fstat(file.number(), &status) != 0) fail_reading(path, errno);
  if (S_ISDIR(status.st_mode)) fail_reading(path, EISDIR);
  if (!S_ISREG(status.st_mode))
    fail(Exit::bad_data, "{}: is not a file but a pipe, a socket or a device. Give the name of a file",
         path.string());
  return file;
}

std::string did_you_mean(const fs::path& path, Among among) {
  // The first component that does not exist is the misspelt one.
  fs::path wrong = path.filename() == "." ? path.parent_path() : path;
  error_code ignored;
  while (wrong.has_parent_path() && !fs::exists(wrong.parent_path(), ignored)) wrong = wrong.parent_path();
  const fs::path parent = wrong.parent_path();
  std::vector<std::string> names;
  for (fs::directory_iterator entry(parent.empty() ? "." : parent, ignored), end; !ignored && entry != end;
       entry.increment(ignored))
    if (error_code none; among == Among::files_and_folders || fs::is_directory(entry->path(), none))
      names.push_back(entry->path().filename().string());
  const std::string name = nearest(wrong.filename().string(), names);
  return name.empty() ? "" : format(" (did you mean '{}'?)", (parent / name).string());
}

std::string no_such_folder(const fs::path& path) {
  return "no such folder" + did_you_mean(path, Among::folders);
}

std::string read_file(const fs::path& path, std::size_t most_bytes) {
  std::string content;
  error_code ignored;
  if (const auto size = fs::file_size(path, ignored); !ignored)
    content.reserve(std::min<std::uintmax_t>(size, most_bytes));
  read_chunks(path, most_bytes, [&](const char* bytes, std::size_t size) { content.append(bytes, size); });
  return content;
}

std::string read_if_possible(const fs::path& path) {
  try {
    return read_file(path);
  } catch (const Error&) {
    return {};
  }
}

void check_name(const fs::path& path, Exit exit) {
  if (is_utf8(path.string())) return;
  throw NotUtf8(exit, path.string() +
                          ": this name is not UTF-8. Rename it, for instance with convmv -f latin1 -t utf8 "
                          "--notest");
}

void make_directories(const fs::path& directory) {
  check_name(fs::absolute(directory), Exit::usage);
  error_code error;
  std::vector<fs::path> made_in;  // parents of new folders
  for (fs::path there = plain(fs::absolute(directory));
       !fs::exists(there, error) && there.has_relative_path(); there = there.parent_path()) {
    if (holds_folder(there.string()))
      fail(Exit::failed, "{}: was removed while voxswap wrote to it. Run the command again", there.string());
    made_in.push_back(there.parent_path());
  }
  if (!made_in.empty()) fs::create_directories(plain(directory), error);  // Boost refuses "." and "a/."
  if (error || !fs::is_directory(directory)) {
    fail(exit_of(error.value()), "{}: this folder cannot be created: {}", directory.string(),
         error ? error.message() : "a file with this name exists");
  }
  for (const fs::path& folder : made_in) sync_folder(folder.string());
}

void make_writable_directory(const fs::path& directory) {
  make_directories(directory);
  if (::access(directory.c_str(), W_OK | X_OK) != 0) {
    fail(Exit::failed, "{}: cannot be written: {}. Choose another folder with --out", directory.string(),
         std::strerror(errno));
  }
  remove_abandoned(directory.string());
}

Hasher::Hasher() : state_(XXH3_createState()) {
  if (state_ == nullptr) throw std::bad_alloc();
  XXH3_128bits_reset(static_cast<XXH3_state_t*>(state_));
}
Hasher::~Hasher() {
  XXH3_freeState(static_cast<XXH3_state_t*>(state_));
}

Hasher& Hasher::add(const void* bytes, size_t size) {
  XXH3_128bits_update(static_cast<XXH3_state_t*>(state_), bytes, size);
  return *this;
}

Hasher& Hasher::add(std::string_view text) {
  const std::uint64_t size = text.size();
  return add(&size, sizeof size).add(text.data(), text.size());
}

Hasher& Hasher::add_file(const fs::path& path) {
  read_chunks(path, std::numeric_limits<std::size_t>::max(),
              [&](const char* bytes, std::size_t size) { add(bytes, size); });
  return *this;
}

std::string Hasher::digest() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(static_cast<const XXH3_state_t*>(state_));
  return format("{:016x}{:016x}", hash.high64, hash.low64);
}

fs::path seen_from(const fs::path& folder, const fs::path& path) {
  return path.is_absolute() ? path : folder / path;
}

fs::path plain(const fs::path& path) {
  fs::path result;
  for (const fs::path& part : path) {  // a trailing separator is a component "."
    const bool below_something = result.has_filename() && result.filename() != "..";
    if (part == ".") continue;
    if (part != ".." || !below_something)
      result /= part;
    else if (result != result.root_path())
      result = result.parent_path();
  }
  return result.empty() && !path.empty() ? fs::path(".") : result;
}

}  // namespace voxswap
