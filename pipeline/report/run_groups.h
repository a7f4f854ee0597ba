// Determines which runs are repeats of one another, and which keys distinguish the others. Runs whose
// experiments differ only in names, folders, seeds and how they were executed are repeats of one model. All
// other differences are subject of the comparison.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace voxswap::pipeline {

// A value of the run column with one of its resolutions.
struct RunInTable {
  std::string run, resolution;
  // Of its experiment, those that distinguish models (setting.h); empty: unknown.
  std::map<std::string, std::string> keys;
};

struct RunGroup {
  std::string resolution;
  std::string setting;  // "planner tflms, patch 32"; empty if the resolution is sufficient
  std::map<std::string, std::string> keys;  // all that differ among the runs, except preprocess.resolution
  std::vector<std::string> distinguishing_keys;  // of these, enough to distinguish groups of equal resolution
  std::vector<std::string> runs;
  std::string name;   // for sentences: "finer (resolution 64, planner tflms, budget 2GiB)"
  std::string label;  // for tables, legends and axes, unique: "finer"; of a sweep's cell "planner tflms"
};

// From coarse to fine, then in the given order. Each run with an unknown experiment is a group.
std::vector<RunGroup> group_runs(const std::vector<RunInTable>& runs);

// Index of a run's group at a resolution. REQUIRES: there is one.
std::size_t group_of(const std::vector<RunGroup>& groups, const std::string& run,
                     const std::string& resolution);

// Index of the group with this resolution and setting; the number of groups if there is none.
std::size_t group_with(const std::vector<RunGroup>& groups, const std::string& resolution,
                       const std::string& setting);

// The rows of each group, in their order. REQUIRES: every row's run is in a group.
template <class Row>
std::vector<std::vector<const Row*>> by_group(const std::vector<RunGroup>& groups,
                                              const std::vector<Row>& rows) {
  std::vector<std::vector<const Row*>> result(groups.size());
  for (const Row& row : rows) result[group_of(groups, row.run, row.resolution)].push_back(&row);
  return result;
}

// The setting without keys that begin with `without`.
std::string setting_text(const RunGroup& group, const std::string& without = "-");

// "64" or "64, planner tflms".
std::string group_label(const std::string& resolution, const std::string& setting);

}  // namespace voxswap::pipeline
