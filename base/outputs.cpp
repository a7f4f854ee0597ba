#include "base/outputs.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>

#include "base/error.h"
#include "base/file.h"

namespace voxswap {

namespace {

// Size and time of last change, as they appear in a line of the record before the name.
std::string looks_of(const struct stat& status) {
  return format("{} {}.{:09}", status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

// Replaces size and time while a file is being written: the second when writing began and, when one of our
// files is replaced, the size and time of that file. If the command is killed, the old or the new file is
// still recognised as ours.
constexpr const char* being_written = "writing ";

std::string looks_while_written(const std::string& former) {
  std::string looks = format("{}{}", being_written, std::time(nullptr));
  if (!former.empty()) looks += "," + former;
  std::replace(looks.begin() + static_cast<std::ptrdiff_t>(std::strlen(being_written)), looks.end(), ' ',
               ',');
  return looks;
}

fs::path record_of(const fs::path& output) {
  return output.parent_path() / ".voxswap";
}

// Name -> size and time. Empty when there is no record.
std::map<std::string, std::string> read_record(const fs::path& output) {
  std::map<std::string, std::string> entries;
  error_code error;
  if (!fs::is_regular_file(record_of(output), error)) return entries;
  for (const std::string& line : split(read_file(record_of(output)), '\n')) {
    const std::size_t size = line.find(' '), time = size == line.npos ? size : line.find(' ', size + 1);
    if (time != line.npos) entries[line.substr(time + 1)] = line.substr(0, time);
  }
  return entries;
}

bool was_written_by_us(const fs::path& output, const struct stat& status) {
  const auto entries = read_record(output);
  const auto found = entries.find(output.filename().string());
  if (found == entries.end()) return false;
  std::string looks = looks_of(status);
  if (found->second == looks) return true;
  // A command was killed before its file was in place, or between writing the file and recording it.
  constexpr std::int64_t most_seconds = 60;
  if (!found->second.starts_with(being_written)) return false;
  std::replace(looks.begin(), looks.end(), ' ', ',');
  if (found->second.ends_with("," + looks)) return true;
  const std::int64_t begun = std::atoll(found->second.c_str() + std::strlen(being_written));
  return status.st_mtim.tv_sec >= begun && status.st_mtim.tv_sec <= begun + most_seconds;
}

void record(const fs::path& output, const std::string& looks) {
  const std::string name = output.filename().string();
  if (name.find('\n') != name.npos) return;
  auto entries = read_record(output);
  entries[name] = looks;
  std::string text;
  for (const auto& [file, its_looks] : entries) text += its_looks + " " + file + "\n";
  write_file(record_of(output), text);
}

bool lies_below(const fs::path& path, const fs::path& folder) {
  const auto [rest, end] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return rest == folder.end();
}

[[noreturn]] void refuse_input(const fs::path& output) {
  fail(Exit::usage, "{}: is part of the input, and input is never overwritten. Choose another --out",
       output.string());
}

}  // namespace

void Outputs::protect(const fs::path& input) {
  struct stat status;
  if (::stat(input.c_str(), &status) != 0) return;
  if (!S_ISDIR(status.st_mode)) {
    inputs_.insert({status.st_dev, status.st_ino});
    return;
  }
  error_code error;
  for (fs::directory_iterator entry(input, error), end; !error && entry != end; entry.increment(error))
    if (!fs::is_directory(entry->path(), error)) protect(entry->path());
}

void Outputs::protect_below(const fs::path& folder) {
  error_code error;
  if (fs::is_directory(folder, error)) folders_.push_back(fs::weakly_canonical(folder));
}

void Outputs::check(const fs::path& output) const {
  struct stat status;
  if (::stat(output.c_str(), &status) != 0) {
    if (::lstat(output.c_str(), &status) != 0) return;  // nothing exists here, not even a dangling link
  } else if (inputs_.contains({status.st_dev, status.st_ino})) {
    refuse_input(output);
  }
  if (was_written_by_us(output, status)) return;
  for (const fs::path& folder : folders_)
    if (lies_below(fs::weakly_canonical(output), folder)) refuse_input(output);
  if (force_) return;
  fail(Exit::usage,
       "{}: exists already and was not written by voxswap, or was changed since. Choose another --out, or "
       "overwrite it with --force",
       output.string());
}

void Outputs::write(const fs::path& output, const std::function<void()>& produce) const {
  check(output);
  struct stat status;
  const bool there = ::stat(output.c_str(), &status) == 0;
  if (there || errno == ENOENT)
    record(output, looks_while_written(there && was_written_by_us(output, status) ? looks_of(status) : ""));
  produce();
  if (::stat(output.c_str(), &status) == 0) record(output, looks_of(status));
}

void check_output_file(const std::string& option, const fs::path& file) {
  error_code error;
  const fs::path folder = fs::absolute(file).parent_path();
  if (fs::is_directory(file, error))
    fail(Exit::usage, "{}: {}: is a folder. Expected the name of a file", option, file.string());
  if (!fs::is_directory(folder, error))
    fail(Exit::usage, "{}: {}: there is no folder {}. Create it, or write elsewhere", option, file.string(),
         folder.string());
  check_output_folder(folder);
}

// The nearest folder above it that is there counts.
void check_output_folder(const fs::path& folder) {
  fs::path there = plain(fs::absolute(folder));
  error_code error;
  while (!fs::exists(there, error) && there.has_parent_path() && there != there.parent_path())
    there = there.parent_path();
  if (!fs::is_directory(there, error))
    fail(Exit::failed, "{}: cannot be written: {} is not a folder. Choose another with --out DIR",
         folder.string(), there.string());
  if (::access(there.c_str(), W_OK | X_OK) != 0)
    fail(Exit::failed, "{}: cannot be written: no permission to write to {}. Choose another with --out DIR",
         folder.string(), there.string());
}

}  // namespace voxswap
