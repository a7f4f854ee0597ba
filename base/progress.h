// A progress bar with rate and time left on a terminal, plain lines at sensible intervals elsewhere, nothing
// with --quiet.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace voxswap {

void set_quiet(bool quiet);  // silences every bar

class Progress {
 public:
  // `what`: "epoch 3/20"; `unit`: what is counted, plural ("steps", "cases").
  Progress(std::string what, std::string unit, std::int64_t total);
  ~Progress();  // ends the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(std::int64_t by = 1, const std::string& note = "");  // note: "loss -0.71"

 private:
  void draw(bool last);

  std::string what_, unit_, note_;
  std::int64_t total_, done_ = 0;
  std::chrono::steady_clock::time_point start_, drawn_;
  bool terminal_, on_screen_ = false;
};

}  // namespace voxswap
