// The ranks of a run in groups: neighbouring ranks split each volume along its depth, and groups (replicas)
// train on different samples.
#pragma once

#include <cstdint>

#include "net/collective/ranks.h"
#include "net/steps/slabs.h"

namespace voxswap::pipeline {

class RankGroups {
 public:
  RankGroups() = default;  // a single rank
  // `slabs`: ranks per group; 0: all. A single rank processes whole volumes.
  RankGroups(net::Ranks& ranks, std::int64_t slabs)
      : ranks_(&ranks), slabs_(slabs == 0 || ranks.is_alone() ? ranks.count() : slabs) {}

  net::Ranks& all() const { return *ranks_; }
  net::SlabRanks slab_ranks() const { return {ranks_->rank() % slabs_, slabs_}; }  // this rank in its group
  bool is_first_of_group() const { return slab_ranks().rank == 0; }
  std::int64_t replica() const { return ranks_->rank() / slabs_; }
  std::int64_t replicas() const { return ranks_->count() / slabs_; }

 private:
  net::Ranks* ranks_ = &net::alone();
  std::int64_t slabs_ = 1;
};

}  // namespace voxswap::pipeline
