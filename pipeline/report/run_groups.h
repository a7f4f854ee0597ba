// Which of several runs are repeats of one another, and which keys distinguish the others.
//
// Runs whose experiments differ in nothing but names, folders, seeds and how they were run are one model
// trained several times. Everything else that differs is what was compared.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace voxswap::pipeline {

// A name of the run column with one of its resolutions.
struct RunInTable {
  std::string run, resolution;
  std::map<std::string, std::string>
      keys;  // of its experiment, those that tell models apart (setting.h); empty: not known
};

struct RunGroup {
  std::string resolution;
  std::string setting;  // "planner tflms, patch 32"; empty where the resolution says it all
  std::map<std::string, std::string>
      keys;                          // every key that differs among the runs, but preprocess.resolution
  std::vector<std::string> told_by;  // those of them that are enough to tell groups of a resolution apart
  std::vector<std::string> runs;
  std::string name;  // for people, in full: "finer (resolution 64, planner tflms, budget 2GiB)"
};

// From coarse to fine, then in the order given. Runs whose experiment is not known are groups by themselves.
std::vector<RunGroup> group_runs(const std::vector<RunInTable>& runs);

// Index of the group that a run is in at a resolution. REQUIRES: it is in one.
std::size_t group_of(const std::vector<RunGroup>& groups, const std::string& run,
                     const std::string& resolution);

// The setting without the keys that begin with `without`.
std::string setting_text(const RunGroup& group, const std::string& without = "-");

// The name of the group with this resolution and setting; of one that is not there, what group_label() gives.
std::string group_name(const std::vector<RunGroup>& groups, const std::string& resolution,
                       const std::string& setting);

// "64" or "64, planner tflms".
std::string group_label(const std::string& resolution, const std::string& setting);

}  // namespace voxswap::pipeline
