// Formats progress as a line of limited width. Pure functions, so tests can check every width.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace voxswap {

struct ProgressState {
  std::string what;  // "epoch 3/20"
  std::string unit;  // what is counted, plural: "steps"
  std::int64_t done = 0, total = 1;
  double rate = 0;                     // per second; 0: unknown
  std::optional<double> seconds_left;  // nullopt: unknown
  std::string note;                    // "loss -0.7112"
};

// "5/26 steps, 1.12 s/step, 12 min 05 s left, loss -0.7112". Rates below one per second are shown as seconds
// per unit.
std::string progress_figures(const ProgressState& state);

// progress_figures() with a progress bar if there is room. Drops figures that do not fit. Never wider than
// `columns`.
std::string progress_line(const ProgressState& state, std::size_t columns);

}  // namespace voxswap
