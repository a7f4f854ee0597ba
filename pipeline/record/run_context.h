// The surroundings of a run: its ranks, what is asked of it, and its experiment as text.
#pragma once

#include <functional>
#include <string>

#include "pipeline/cases/rank_groups.h"
#include "pipeline/report/setting.h"
#include "voxswap/run.h"

namespace voxswap::pipeline {

struct RunContext {
  RankGroups ranks{};
  bool resume = false;
  bool trace = false;                            // write timeline.json: one step in Perfetto's format
  std::function<void(const Epoch&)> on_epoch{};  // called on the first rank
  // The experiment file with all keys, versions and the device; written as experiment.yaml.
  std::string resolved{};
  SettingList settings{};  // every key in that file, for comparing experiments
  std::string identity{};  // hash of the run as in identity.json; empty: unknown
};

}  // namespace voxswap::pipeline
