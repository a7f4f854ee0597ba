// Finds the largest volume, batch or depth whose training step fits, and the largest with low overhead, by
// bisection. Trials for one host memory size are reused for the others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/plan/forecast.h"

namespace voxswap::pipeline {

enum class Dimension { resolution, batch, depth };

// Resolutions searched are multiples of the smallest one with the same proportions; depths are those that the
// resolution allows.
struct Largest {
  Dimension dimension{};
  std::int64_t factor = 0;         // in multiples of `unit`; 0: not even the smallest fits
  std::string size, unit;          // "192", "16"
  std::string up_to;               // sizes up to this one were not tried, for lack of time; empty: none
  std::string next, limit;         // the next larger size and why it does not fit; empty: none
  std::optional<swap::Plan> plan;  // for `size`
  double compute_seconds = 0;      // of that step with unlimited memory
  std::int64_t host_bytes = 0;     // limit of the host pool

  // The largest size whose step takes at most `times` the compute time.
  struct Swift {
    double times = 0;
    std::int64_t factor = 0;  // 0: none
    std::string size, up_to;  // as above
    double step_seconds = 0;
  };
  std::vector<Swift> swift;  // one for each of most_times
};
constexpr double most_times[] = {2, 1.25};

// Returns one result or, if the device is not in this machine and memory.host is not set, one each for hosts
// with 32, 64, 128 and 256 GiB. Plans with estimated costs and less search; what fits hardly depends on them.
// Assumes that overhead grows with size. Several hosts share the time limit `seconds`; a result that is
// unfinished by then is a range (up_to).
std::vector<Largest> find_largest(const Experiment& experiment, const RankGroups& ranks,
                                  const DataShape& data, const std::string& as, Dimension dimension,
                                  double seconds = 100);

}  // namespace voxswap::pipeline
