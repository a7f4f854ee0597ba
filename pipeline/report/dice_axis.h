// The axis of Dice that plots share: it ends at 1, and its lower part is cut off where there are no values.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "pipeline/report/figure.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

inline Axis dice_axis(const std::vector<BoxRow>& boxes) {
  double lowest = 1;
  for (const BoxRow& box : boxes)
    if (box.statistics.n > 0) lowest = std::min(lowest, box.statistics.minimum);
  const double low = lowest < 0.25 ? 0 : std::min(0.8, std::floor(10 * (lowest - 0.03)) / 10);
  return {{low, 1}, low >= 0.6 ? "0.05" : "0.1", "Dice"};
}

}  // namespace voxswap::pipeline
