// Reads how a sweep stops cells early: the entries `stop`, `eta` and `first_rung` of `sweep:`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "experiments/sweep_draft.h"
#include "pipeline/sweep/halving.h"

namespace voxswap::experiments {

// The rungs of a sweep with that many settings, whose shortest cell has that many epochs; empty without
// halving. Throws Exit::usage if no cell could be stopped.
std::vector<pipeline::Rung> read_rungs(const Draft& draft, const std::string& command, std::size_t settings,
                                       std::int64_t epochs);

}  // namespace voxswap::experiments
