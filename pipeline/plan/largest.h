// The largest volume, batch or network whose training step fits, found by bisection.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pipeline/plan/forecast.h"

namespace voxswap::pipeline {

enum class Dimension { resolution, batch, depth };

// A box is searched among the multiples of the smallest one with its proportions, a depth among those that
// the resolution allows.
struct Largest {
  Dimension dimension{};
  std::int64_t factor = 0;         // in multiples of `unit`; 0: not even the smallest fits
  std::string size, unit;          // "192", "16": of what fits
  std::string next, limit;         // the next larger one and why it does not fit; empty: there is none
  std::optional<swap::Plan> plan;  // of what fits
};

// Planned on estimated costs, with less search: what fits hardly depends on them.
Largest find_largest(const RunOptions& options, const DataShape& data, const std::string& as,
                     Dimension dimension);

}  // namespace voxswap::pipeline
