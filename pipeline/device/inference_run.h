// Runs the inference step of a session: writes a case's volumes, and reads results on one rank or on those
// that share the volumes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "net/collective/exchange.h"
#include "net/steps/step.h"
#include "pipeline/cases/label_decoder.h"
#include "pipeline/cases/rank_groups.h"
#include "pipeline/cases/windows.h"
#include "pipeline/device/shared_planes.h"
#include "pipeline/device/staging.h"
#include "swap/execute/executor.h"

namespace voxswap::pipeline {

class InferenceRun {
 public:
  // `exchange`: null without other ranks. `size`: of the network's input. All must outlive this.
  InferenceRun(const net::InferenceStep& step, const net::StepOptions& options, swap::Executor& executor,
               net::Backend& backend, const RankGroups& ranks, net::Exchange* exchange);

  // Whole volumes, also where ranks share them. Zeros take the place of an empty target or ground truth.
  // Returns the time in kernels.
  double run(std::span<const float> image, std::span<const std::uint8_t> target,
             std::span<const std::int16_t> truth);

  // Results of the last run.
  float loss() const;  // REQUIRES: the step has one
  std::vector<double> confusion() const;
  std::vector<float> probabilities() const;  // on all ranks
  // Collective. Pass on planes of all ranks, in order of depth, on the first rank of a group.
  void hand_on_probabilities(const TakePlanes& take) const;
  void hand_on_labels(const TakeLabels& take) const;

 private:
  template <class T>
  void write(InputWriter& writer, const std::vector<net::ValueId>& slabs, std::span<const T> volume);
  template <class T>
  void take_own(const std::vector<net::ValueId>& slabs, const SharedPlanes::Take<T>& take) const;
  template <class T>
  void hand_on(const std::vector<net::ValueId>& slabs, std::int64_t channels,
               const SharedPlanes::Take<T>& take) const;
  SharedPlanes shared_planes(std::int64_t channels) const;

  const net::InferenceStep& step_;
  const net::StepOptions& options_;
  swap::Executor& executor_;
  const RankGroups& ranks_;
  net::Backend& backend_;
  net::Exchange* exchange_;
  InputWriter inputs_, truth_;  // each holds one target that the step streams
};

}  // namespace voxswap::pipeline
