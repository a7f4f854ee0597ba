// Scans that arrive in a watched folder: which are complete, and which were returned already.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "data/layouts/dataset.h"

namespace voxswap::pipeline {

// Sizes and modification times (nanoseconds) of files, by path.
using FileStates = std::map<std::string, std::pair<std::int64_t, std::int64_t>>;

class Arrivals {
 public:
  using Clock = std::chrono::steady_clock;
  // Lists the cases of a folder; throws Exit::bad_data if it has none.
  using List = std::function<data::Dataset(const fs::path& folder)>;

  // A case is complete if its files did not change for the time `settle`.
  Arrivals(const fs::path& folder, Clock::duration settle, List list);

  // The complete cases that were not returned before, oldest first; cases whose files changed are returned
  // again. Files that belong to no case are logged once, when the whole folder did not change for `settle`.
  data::Dataset take(Clock::time_point now);

 private:
  struct Case {
    FileStates files;
    Clock::time_point changed;
    bool taken = false;
  };

  void list_again();
  void log_problems();

  fs::path folder_;
  Clock::duration settle_;
  List list_;
  FileStates files_;  // of the whole folder
  Clock::time_point changed_{};
  data::Dataset dataset_;
  std::map<std::string, Case> cases_;
  std::vector<std::string> problems_;  // of dataset_
  std::set<std::string> logged_;
};

// True if no file of the case was written, moved or copied there after `output` was written.
bool is_newer(const fs::path& output, const data::CaseFiles& files);

}  // namespace voxswap::pipeline
