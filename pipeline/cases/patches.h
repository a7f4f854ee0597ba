// Training on patches: boxes of the prepared volume in place of all of it (training.patch), for networks that
// do not fit otherwise, and for the comparison with whole volumes.
//
// Where a patch lies is drawn as nnU-Net draws it: some of them (training.foreground) around a voxel of a
// label that is drawn first, so that rare labels are seen, the others anywhere. Patches lie inside the
// volume.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "data/prepare/prepare.h"
#include "pipeline/cases/options.h"

namespace voxswap::pipeline {

// What the network sees at a time: the patch, or the whole prepared volume.
data::Size3 input_size(const RunOptions& options);

// How many patches an epoch takes of each case: as many as make about a whole volume. 1 without patches.
std::int64_t patches_per_case(const RunOptions& options);

// `number`: which of the epoch's patches of all cases, below 2^32. `foreground`: the share around
// a label, but the one to be ignored. `truth` may be empty: then anywhere.
data::Box draw_patch(const std::vector<std::int16_t>& truth, const data::Size3& size,
                     const data::Size3& patch, std::uint64_t seed, std::uint64_t epoch, std::uint32_t number,
                     double foreground = 1.0 / 3, int ignored = 0);

// The part of a prepared case, with its place in the world and the statistics of the whole.
data::PreparedCase cut_case(const data::PreparedCase& whole, const data::Box& box);

}  // namespace voxswap::pipeline
