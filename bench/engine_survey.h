// Time of each cuDNN plan for a convolution on this device, and the deviation of its result from the
// convolution's definition, for bench/engine_times.cpp. This header includes no CUDA header.
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
  bool in_order = false;  // guarantees identical bits
  bool taken = false;     // used in training with training.deterministic: true
  std::int64_t workspace_bytes = 0;
  double milliseconds = 0;
  double error = -1;          // of ConvolutionTrial; negative: unknown
  std::string status = "ok";  // or why there are no measurements
};

class EngineSurvey {
 public:
  explicit EngineSurvey(int ordinal);  // throws Exit::does_not_fit, as the backend does
  ~EngineSurvey();
  std::string device() const;

  // Measures the plans in turn and reports each at once, until more() returns false. `only_taken`: only the
  // plan used in training.
  void measure(const ConvolutionProblem& problem, bool only_taken, const std::function<bool()>& more,
               const std::function<void(const EngineTime&)>& tell);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace voxswap::net::cuda
