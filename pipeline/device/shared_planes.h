// Planes of a volume that several ranks have: each some of them, in the order of their numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "net/collective/ranks.h"
#include "net/steps/step.h"
#include "pipeline/cases/patches.h"

namespace voxswap::pipeline {

struct SharedPlanes {
  net::Ranks& ranks;
  net::SlabRanks here;                     // this rank, of those that share the volume
  std::int64_t first = 0;                  // the first of them, among all ranks
  const std::vector<net::Planes>& planes;  // of each
  std::int64_t plane = 0;                  // numbers of one

  // Whether the volume stays whole, on every rank. Where it has fewer blocks than there are ranks, the last
  // ranks have none of it.
  bool stays_whole() const { return planes.back().from == 0; }

  // Collective, as the next one: those of all ranks, on each.
  std::vector<float> on_all(std::vector<float> own) const;
  // `own` hands on those of this rank, in order; `take` gets those of all ranks, in order, on the first one
  // alone, which holds one of another rank's at a time.
  void to_first(const std::function<void(const TakePlanes&)>& own, const TakePlanes& take) const;
};

}  // namespace voxswap::pipeline
