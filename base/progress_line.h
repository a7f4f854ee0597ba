// How far something is, as a line of at most so many columns: a pure function, so that every width can be
// looked at.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace voxswap {

struct ProgressState {
  std::string what;  // "epoch 3/20"
  std::string unit;  // what is counted, plural: "steps"
  std::int64_t done = 0, total = 1;
  double rate = 0;                     // per second; 0: not known yet
  std::optional<double> seconds_left;  // nothing: not known yet
  std::string note;                    // "loss -0.7112"
};

// "5/26 steps, 1.12 s/step, 12 min 05 s left, loss -0.7112": what is less often than once a second, is told
// in seconds each.
std::string progress_figures(const ProgressState& state);

// With a bar where there is room for one; with fewer figures where there is not room for all. Never more than
// `columns` columns.
std::string progress_line(const ProgressState& state, std::size_t columns);

}  // namespace voxswap
