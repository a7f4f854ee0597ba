// What every plan that cuDNN offers for a convolution takes on the device at hand, and how far its result is
// from that of the plainest engine: for bench/engine_times.cpp. Names no third party.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/backends/backend.h"
#include "net/backends/cuda/convolution_problem.h"

namespace voxswap::net::cuda {

struct EngineTime {
  std::string choice;  // the engine and its knobs
  std::string notes;
  bool in_order = false;  // promises the same bits every time
  bool taken = false;     // what a training with training.deterministic: true takes
  std::int64_t workspace_bytes = 0;
  double milliseconds = 0;
  // The largest difference from the plainest engine's result on the same numbers, by its largest magnitude;
  // negative: not found out.
  double error = -1;
  std::string status = "ok";  // or why there are no figures
};

// Where the result of a plan and the plainest engine's are furthest apart.
struct WorstElement {
  std::int64_t place = 0;
  float found = 0, expected = 0;
};

class EngineSurvey {
 public:
  explicit EngineSurvey(int ordinal);  // throws Exit::does_not_fit, as the backend does
  ~EngineSurvey();
  std::string device() const;

  // One plan after the other, each told of as soon as it is measured, until more() says no. `only_taken`: the
  // one that training takes. The plainest engine computes in f32, without tensor cores, in a fixed order.
  void measure(const ConvolutionProblem& problem, bool only_taken, const std::function<bool()>& more,
               const std::function<void(const EngineTime&, const WorstElement&)>& tell);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace voxswap::net::cuda
