// Numbers of things in order of a step of each, in time that grows with their count and that of the steps: a
// schedule in pieces has thousands of both, and is judged thousands of times.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "base/index.h"

namespace voxswap::swap {

// step_of(number) is from -1 to `steps`; those of one step stay in their order.
template <class Of>
void sort_by_step(std::vector<std::int32_t>& numbers, std::int32_t steps, Of step_of) {
  std::vector<std::int32_t> place(index(steps) + 3, 0);
  for (const std::int32_t number : numbers) ++place[index(step_of(number) + 2)];
  std::partial_sum(place.begin(), place.end(), place.begin());
  std::vector<std::int32_t> sorted(numbers.size());
  for (const std::int32_t number : numbers) sorted[index(place[index(step_of(number) + 1)]++)] = number;
  numbers = std::move(sorted);
}

}  // namespace voxswap::swap
