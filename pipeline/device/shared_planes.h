// The planes of a volume that is distributed over several ranks, in the order of the ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "net/collective/ranks.h"
#include "net/steps/step.h"

namespace voxswap::pipeline {

struct SharedPlanes {
  template <class T>
  using Take = std::function<void(std::span<const T>)>;

  net::Ranks& ranks;
  net::SlabRanks here;                     // this rank among those that share the volume
  std::int64_t first = 0;                  // global rank of the first of them
  const std::vector<net::Planes>& planes;  // of each rank
  std::int64_t plane = 0;                  // elements of a plane

  // True if every rank holds the whole volume: if it has fewer blocks than there are ranks, the last ranks
  // have none.
  bool stays_whole() const { return planes.back().from == 0; }

  // Collective. All-gather: returns the planes of all ranks on every rank.
  std::vector<float> on_all(std::vector<float> own) const;
  // Collective. Gathers on the first rank: `own` passes on this rank's planes in order; on the first rank,
  // `take` receives those of all ranks in order. It buffers one plane of another rank at a time. T:
  // probabilities (float) or labels (std::int16_t).
  template <class T>
  void to_first(const std::function<void(const Take<T>&)>& own, const Take<T>& take) const;
};

}  // namespace voxswap::pipeline
