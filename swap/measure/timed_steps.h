// Runs steps to time them: one instruction at a time, with initial weights and random inputs.
#pragma once

#include <vector>

#include "swap/execute/executor.h"

namespace voxswap::swap {

class TimedSteps {
 public:
  TimedSteps(CompiledGraph& compiled, const Plan& plan, const Tiers& tiers);

  const StepReport& run();
  void run_and_time();  // adds a step to the statistics below
  void forget();        // clears the statistics

  int steps() const { return static_cast<int>(compute_seconds_.size()); }
  double all_seconds() const { return all_seconds_; }
  double spread() const;                     // of the steps' compute times. REQUIRES: at least one step
  double usual_compute_seconds() const;      // median. REQUIRES: at least one step
  std::vector<double> node_seconds() const;  // median per node. REQUIRES: at least one step

 private:
  const net::Graph& graph_;
  Executor executor_;
  std::vector<std::pair<net::ValueId, std::vector<std::byte>>> inputs_;
  std::vector<std::vector<double>> node_seconds_;  // per node, in each step
  std::vector<double> compute_seconds_;
  double all_seconds_ = 0;
};

}  // namespace voxswap::swap
