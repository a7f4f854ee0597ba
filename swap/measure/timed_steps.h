// Steps that are run to be timed: one instruction after the other, on initial weights and random inputs.
#pragma once

#include <vector>

#include "swap/execute/executor.h"

namespace voxswap::swap {

class TimedSteps {
 public:
  TimedSteps(CompiledGraph& compiled, const Plan& plan, const Tiers& tiers);

  const StepReport& run();
  void run_and_time();  // counts in what follows
  void forget();        // what was counted

  int steps() const { return static_cast<int>(compute_seconds_.size()); }
  double all_seconds() const { return all_seconds_; }
  double spread() const;                     // of the steps' compute time. REQUIRES: a step was counted
  double usual_compute_seconds() const;      // of a step: the median; the same holds
  std::vector<double> node_seconds() const;  // the median of each node; the same holds

 private:
  const net::Graph& graph_;
  Executor executor_;
  std::vector<std::pair<net::ValueId, std::vector<std::byte>>> inputs_;
  std::vector<std::vector<double>> node_seconds_;  // per node, in each step
  std::vector<double> compute_seconds_;
  double all_seconds_ = 0;
};

}  // namespace voxswap::swap
