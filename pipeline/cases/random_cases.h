// Random cases in memory, for measuring how fast samples are made without a data set.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "pipeline/cases/cases.h"
#include "pipeline/cases/epoch_sampler.h"
#include "pipeline/cases/experiment.h"
#include "pipeline/cases/prefetch.h"

namespace voxswap::pipeline {

// Up to four prepared cases of preprocess.resolution, with random voxels and labels, and the samples that
// training draws from them: cut, normalised, augmented and encoded by the same code.
class RandomCases {
 public:
  // `channels`, `outputs`: of the network.
  RandomCases(const Experiment& experiment, std::int64_t channels, std::int64_t outputs);

  Cases& cases() { return *cases_; }
  std::vector<std::size_t> all() const;  // their numbers

  std::int64_t loader_threads(bool computes_on_host) const {
    return sampler_.loader_threads(computes_on_host);
  }
  // Loads batches on these threads, practically without end. REQUIRES: `*this` outlives the result.
  std::unique_ptr<Prefetcher> load(bool computes_on_host) {
    return sampler_.load(*cases_, 0, computes_on_host);
  }

 private:
  std::unique_ptr<Cases> cases_;
  EpochSampler sampler_;
};

}  // namespace voxswap::pipeline
