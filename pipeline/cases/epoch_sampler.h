// The batches of training: which cases, in which order, and the threads that load them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "pipeline/cases/cases.h"
#include "pipeline/cases/prefetch.h"
#include "pipeline/cases/rank_groups.h"

namespace voxswap::pipeline {

// Draws the batches of an epoch: cases, or several patches of each, shuffled per epoch and augmented by
// (seed, epoch, case). The result does not depend on the thread count.
class EpochSampler {
 public:
  // `case_count`: cases in the data set. `counts`: samples of each case; empty: as many patches as cover a
  // volume.
  EpochSampler(const Experiment& experiment, const RankGroups& ranks, std::uint64_t seed,
               const std::vector<std::size_t>& cases, std::size_t case_count,
               const std::vector<std::int64_t>& counts = {});
  std::int64_t steps() const;  // per epoch; an incomplete last batch is dropped
  // This rank's share of the batch of step `step` (0-based) of `epoch` (1-based): what is drawn for it, or
  // the batch itself in the memory of `used`.
  Sample draw(Cases& cases, std::int64_t epoch, std::int64_t step) const;
  Sample batch(Cases& cases, std::int64_t epoch, std::int64_t step, Sample used = {}) const;
  // Threads that load batches: training.loader_threads, or an eighth of this rank's cores if kernels run on
  // them too, since loading takes a small part of a step; with a separate device all but one, at most 16.
  std::int64_t loader_threads(bool computes_on_host) const;
  // Loads the batches on these threads, from step `first` counted over all epochs; for a device with memory
  // of its own, which makes samples itself, it only draws them. Does not stop at the end of an epoch, so that
  // batches are ready after a validation. REQUIRES: the sampler and `cases` outlive the result.
  std::unique_ptr<Prefetcher> load(Cases& cases, std::int64_t first, bool computes_on_host) const;

 private:
  struct Item {
    std::size_t case_index;
    std::uint32_t
        number;  // unique among the samples of all cases; the case's index where each case has one sample
  };
  std::vector<Item> order(std::int64_t epoch) const;

  TrainingOptions training_;
  net::Share share_;
  std::uint64_t seed_;
  int ranks_here_;  // on this machine
  std::vector<Item> items_;
};

}  // namespace voxswap::pipeline
