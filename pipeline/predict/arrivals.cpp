#include "pipeline/predict/arrivals.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/error.h"
#include "base/log.h"

namespace voxswap::pipeline {

namespace {

std::int64_t nanoseconds(const timespec& time) {
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

// A moved file, or one copied with its times, keeps its time of writing, but has a new time of change.
void add_file(FileStates& states, const fs::path& file) {
  struct stat status;
  if (::stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode))
    states[file.string()] = {status.st_size,
                             std::max(nanoseconds(status.st_mtim), nanoseconds(status.st_ctim))};
}

// The state of a file, or of all files below a folder. Ignores names that begin with a dot, which rsync gives
// to incomplete copies, and files that vanish meanwhile.
FileStates states_of(const fs::path& path) {
  FileStates states;
  error_code error;
  if (!fs::is_directory(path, error)) {
    add_file(states, path);
    return states;
  }
  constexpr auto how =
      fs::directory_options::follow_directory_symlink | fs::directory_options::skip_permission_denied;
  fs::recursive_directory_iterator entry(path, how, error);
  for (const fs::recursive_directory_iterator end; !error && entry != end; entry.increment(error)) {
    if (entry->path().filename().string().starts_with("."))
      entry.disable_recursion_pending();
    else
      add_file(states, entry->path());
  }
  return states;
}

FileStates states_of(const data::CaseFiles& files) {
  FileStates states;
  for (const fs::path& channel : files.channels) states.merge(states_of(channel));
  return states;
}

}  // namespace

Arrivals::Arrivals(const fs::path& folder, Clock::duration settle, List list)
    : folder_(plain(fs::absolute(folder))), settle_(settle), list_(std::move(list)) {}

void Arrivals::list_again() {
  problems_.clear();
  try {
    dataset_ = list_(folder_);
    for (const data::Unused& one : dataset_.left_out)
      problems_.push_back(format("{}: not predicted: {}", one.path.string(), one.why));
  } catch (const Error& error) {
    if (error.exit() != Exit::bad_data) throw;
    dataset_ = {};
    if (!files_.empty()) problems_.push_back(error.what());
  }
}

void Arrivals::log_problems() {
  for (const std::string& problem : problems_)
    if (logged_.insert(problem).second) log::warn("{}", problem);
}

data::Dataset Arrivals::take(Clock::time_point now) {
  if (FileStates files = states_of(folder_); files != files_) {
    files_ = std::move(files);
    changed_ = now;
    list_again();
  }
  if (now - changed_ >= settle_) log_problems();
  std::map<std::string, Case> cases;
  std::vector<std::pair<Clock::time_point, const data::CaseFiles*>> ready;
  for (const data::CaseFiles& files : dataset_.cases) {
    FileStates states = states_of(files);
    Case one{std::move(states), now};
    if (const auto known = cases_.find(files.id); known != cases_.end() && known->second.files == one.files)
      one = known->second;
    if (!one.taken && !one.files.empty() && now - one.changed >= settle_) {
      one.taken = true;
      ready.emplace_back(one.changed, &files);
    }
    cases[files.id] = std::move(one);
  }
  cases_ = std::move(cases);
  std::stable_sort(ready.begin(), ready.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  data::Dataset result = dataset_;
  result.cases.clear();
  for (const auto& [changed, files] : ready) result.cases.push_back(*files);
  return result;
}

bool is_newer(const fs::path& output, const data::CaseFiles& files) {
  struct stat written;
  if (::stat(output.c_str(), &written) != 0) return false;
  const FileStates states = states_of(files);
  return std::all_of(states.begin(), states.end(),
                     [&](const auto& one) { return one.second.second <= nanoseconds(written.st_mtim); });
}

}  // namespace voxswap::pipeline
