#include "base/outputs.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iterator>
#include <map>

#include "base/error.h"
#include "base/file.h"
#include "base/part_files.h"

namespace voxswap {

namespace {

// Prefix of an entry while its file is being written: followed by the start time and, if a file of ours is
// replaced, its size and time. If the command is killed, both the old and the new file are recognised as
// ours.
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

// Maps names to size and time. Empty if there is no record.
std::map<std::string, std::string> read_record(const fs::path& record) {
  std::map<std::string, std::string> entries;
  error_code error;
  if (!fs::is_regular_file(record, error)) return entries;
  for (const std::string& line : split(read_file(record), '\n')) {
    const std::size_t size = line.find(' '), time = size == line.npos ? size : line.find(' ', size + 1);
    if (time != line.npos) entries[line.substr(time + 1)] = line.substr(0, time);
  }
  return entries;
}

bool are_looks_of(const std::string& entry, const struct stat& status) {
  std::string looks = looks_of(status);
  if (entry == looks) return true;
  // The command was killed before its file was renamed, or before the file was recorded.
  constexpr std::int64_t most_seconds = 60;
  if (!entry.starts_with(being_written)) return false;
  std::replace(looks.begin(), looks.end(), ' ', ',');
  if (entry.ends_with("," + looks)) return true;
  const std::int64_t begun = std::atoll(entry.c_str() + std::strlen(being_written));
  return status.st_mtim.tv_sec >= begun && status.st_mtim.tv_sec <= begun + most_seconds;
}

bool lies_below(const fs::path& path, const fs::path& folder) {
  const auto [position, end] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return position == folder.end();
}

[[noreturn]] void refuse_input(const fs::path& output) {
  fail(Exit::usage, "{}: is part of the input, and input is never overwritten. Choose another --out",
       output.string());
}

}  // namespace

std::string WrittenFiles::name_of(const fs::path& file) const {
  const fs::path folder = record_.parent_path();
  return (folder.empty() ? file : file.lexically_relative(folder)).generic_string();
}

std::string looks_of(const struct stat& status) {
  return format("{} {}.{:09}", status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

bool WrittenFiles::contains(const fs::path& file) const {
  struct stat status;
  if (::stat(file.c_str(), &status) != 0 && ::lstat(file.c_str(), &status) != 0) return false;
  const std::scoped_lock lock(mutex_);
  const auto entries = read_record(record_);
  const auto found = entries.find(name_of(file));
  return found != entries.end() && are_looks_of(found->second, status);
}

void WrittenFiles::write(const std::vector<fs::path>& files, const std::function<void()>& produce) {
  std::map<std::string, std::string> looks;
  struct stat status;
  for (const fs::path& file : files) {
    const bool there = ::stat(file.c_str(), &status) == 0;
    if (there || errno == ENOENT)
      looks[name_of(file)] = looks_while_written(there && contains(file) ? looks_of(status) : "");
  }
  update(looks);
  produce();
  looks.clear();
  for (const fs::path& file : files)
    if (::stat(file.c_str(), &status) == 0) looks[name_of(file)] = looks_of(status);
  update(looks);
}

std::vector<fs::path> WrittenFiles::not_ours(const std::vector<fs::path>& files,
                                             const fs::path& folder) const {
  const std::scoped_lock lock(mutex_);
  const auto entries = read_record(record_);
  error_code error;
  const fs::path root = fs::canonical(folder, error);
  const auto is_ours = [&](const fs::path& file) {
    struct stat status;
    if (::lstat(file.c_str(), &status) != 0) return errno == ENOENT;
    const auto found = entries.find(name_of(file));
    if (found == entries.end() || !S_ISREG(status.st_mode) || !are_looks_of(found->second, status))
      return false;
    const fs::path parent = fs::canonical(file.parent_path(), error);
    return !error && lies_below(parent, root);
  };
  std::vector<fs::path> others;
  std::remove_copy_if(files.begin(), files.end(), std::back_inserter(others), is_ours);
  return others;
}

std::vector<fs::path> WrittenFiles::remove(const std::vector<fs::path>& files, const fs::path& folder) {
  std::vector<fs::path> kept = not_ours(files, folder);
  std::map<std::string, std::string> gone;
  for (const fs::path& file : files) {
    if (std::find(kept.begin(), kept.end(), file) != kept.end()) continue;
    error_code error;
    fs::remove(file, error);
    if (error)
      kept.push_back(file);
    else
      gone[name_of(file)] = "";
  }
  update(gone);
  return kept;
}

// Removes entries without size and time, and the record if it has no entries.
void WrittenFiles::update(const std::map<std::string, std::string>& looks) {
  const std::scoped_lock lock(mutex_);
  auto entries = read_record(record_);
  for (const auto& [name, its_looks] : looks) {
    if (name.find('\n') != name.npos) continue;
    if (its_looks.empty())
      entries.erase(name);
    else
      entries[name] = its_looks;
  }
  std::string text;
  for (const auto& [file, its_looks] : entries) text += its_looks + " " + file + "\n";
  error_code ignored;
  if (!text.empty())
    write_file(record_, text);
  else if (!looks.empty())
    fs::remove(record_, ignored);
}

bool remove_output(const fs::path& output, const fs::path& folder) {
  return WrittenFiles(record_of(output)).remove({output}, folder).empty();
}

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
    if (::lstat(output.c_str(), &status) != 0) return;  // does not exist, not even as a dangling link
  } else if (inputs_.contains({status.st_dev, status.st_ino})) {
    refuse_input(output);
  }
  if (WrittenFiles(record_of(output)).contains(output)) return;
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
  WrittenFiles(record_of(output)).write({output}, produce);
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

// Checks the nearest existing parent folder.
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
  remove_abandoned(folder.string());
}

}  // namespace voxswap
