// The largest volume, batch or network whose training step fits, and the largest with little overhead, by
// bisection. What a host of one size showed is reused for the others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/plan/forecast.h"

namespace voxswap::pipeline {

enum class Dimension { resolution, batch, depth };

// A box is searched among the multiples of the smallest one with its proportions, a depth among those that
// the resolution allows.
struct Largest {
  Dimension dimension{};
  std::int64_t factor = 0;         // in multiples of `unit`; 0: not even the smallest fits
  std::string size, unit;          // "192", "16": of what fits
  std::string up_to;               // larger ones up to this one were not tried, for lack of time; empty: none
  std::string next, limit;         // the next larger one and why it does not fit; empty: there is none
  std::optional<swap::Plan> plan;  // of what fits
  double compute_seconds = 0;      // of its step in unlimited memory
  std::int64_t host_bytes = 0;     // what the host pool may hold

  // The largest whose step takes at most `times` as long as computing alone.
  struct Swift {
    double times = 0;
    std::int64_t factor = 0;  // 0: none
    std::string size, up_to;  // as above
    double step_seconds = 0;
  };
  std::vector<Swift> swift;  // of most_times
};
constexpr double most_times[] = {2, 1.25};

// One, or where the device is not here and memory.host is not set, one for a host of each of 32, 64, 128 and
// 256 GiB. Planned on estimated costs, with less search: what fits hardly depends on them. That a larger size
// is slowed down more is taken for granted. Several hosts share `seconds`: what is not found out by then is a
// range (up_to).
std::vector<Largest> find_largest(const RunOptions& options, const DataShape& data, const std::string& as,
                                  Dimension dimension, double seconds = 100);

}  // namespace voxswap::pipeline
