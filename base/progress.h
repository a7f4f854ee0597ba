// Progress: one line that is redrawn on a terminal, a plain line at intervals elsewhere, nothing with
// --quiet.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace voxswap {

// Formats progress as a line of limited width. Pure functions, so tests can check every width.
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

void set_quiet(bool quiet);  // silences all Progress and Doing

class Progress {
 public:
  // `what`: "epoch 3/20"; `unit`: what is counted, plural ("steps", "cases"); `done`: completed before;
  // `expected`: see expect().
  Progress(std::string what, std::string unit, std::int64_t total, std::int64_t done = 0,
           std::optional<double> expected = std::nullopt);
  ~Progress();  // clears the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(std::int64_t by = 1, const std::string& note = "");  // note: "loss -0.71"

  // Sets the remaining time of a larger task that this one is part of, until the next call. By default, the
  // remaining time of this task is shown.
  void expect(double seconds_left);

 private:
  void draw();

  ProgressState state_;
  std::int64_t before_;
  std::optional<double> expected_;
  std::chrono::steady_clock::time_point start_, drawn_;
  bool terminal_;
};

// For work of unknown length: shows its name in the terminal's status line; without a terminal, logs it once
// per process.
class Doing {
 public:
  explicit Doing(const std::string& what);  // "planning"
  ~Doing();
  Doing(const Doing&) = delete;
  Doing& operator=(const Doing&) = delete;
};

}  // namespace voxswap
