// The surroundings of a run: its ranks, what is asked of it, and its experiment as text.
#pragma once

#include <algorithm>
#include <cstdint>
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
  std::int64_t until = 0;                        // pause after this epoch; 0: train to the end
  std::function<void(const Epoch&)> on_epoch{};  // called on the first rank
  // The experiment file with all keys, versions and the device; written as experiment.yaml.
  std::string resolved{};
  SettingList settings{};  // every key in that file, for comparing experiments
  std::string identity{};  // hash of the run as in identity.json; empty: unknown

  // The last epoch that is trained in this process.
  std::int64_t last_epoch(std::int64_t epochs) const { return until > 0 ? std::min(until, epochs) : epochs; }
};

}  // namespace voxswap::pipeline
