// Progress: one line that is redrawn on a terminal, a plain line at intervals elsewhere, nothing with
// --quiet.
#pragma once

#include <chrono>
#include <optional>

#include "base/progress_line.h"

namespace voxswap {

void set_quiet(bool quiet);  // silences all of them

class Progress {
 public:
  // `what`: "epoch 3/20"; `unit`: what is counted, plural ("steps", "cases"); `done`: by somebody before;
  // `expected`: as in expect().
  Progress(std::string what, std::string unit, std::int64_t total, std::int64_t done = 0,
           std::optional<double> expected = std::nullopt);
  ~Progress();  // clears the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(std::int64_t by = 1, const std::string& note = "");  // note: "loss -0.71"

  // What is left of the whole when this is a part of it; else what is left of this is told. Holds until the
  // next call.
  void expect(double seconds_left);

 private:
  void draw();

  ProgressState state_;
  std::int64_t before_;
  std::optional<double> expected_;
  std::chrono::steady_clock::time_point start_, drawn_;
  bool terminal_;
};

// For work that nobody knows the length of: on a terminal its name stands at the bottom while it lasts,
// elsewhere it is said once.
class Doing {
 public:
  explicit Doing(const std::string& what);  // "planning"
  ~Doing();
  Doing(const Doing&) = delete;
  Doing& operator=(const Doing&) = delete;
};

}  // namespace voxswap
