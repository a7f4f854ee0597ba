// training.preset: a published training recipe, as values of the keys that the experiment does not set.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "data/volumes/volume.h"
#include "experiments/rules.h"
#include "experiments/settings.h"
#include "net/networks/network.h"

namespace voxswap::experiments {

// Adds what the preset in `settings` sets; returns the keys that it added, none without a preset.
std::vector<std::string> add_preset(Settings& settings);

// What of the preset depends on the sides of what the network sees: the levels of a U-Net, and the weights of
// their losses. Returns the keys that it set.
std::vector<std::string> settle_preset(pipeline::RunOptions& options, const Given& given);

// The levels of a U-Net that suit a volume: which axes each level halves, and the weights of their losses.
struct Levels {
  std::vector<net::Along> strides, kernels;  // per level, the finest first
  data::Size3 size{};                        // that the strides divide: the one asked for, or rounded up
};

// Every level halves the axes that keep at least 4 voxels, as nnU-Net's do, but for those whose voxels are
// still twice as long as others': these wait, and are not convolved along until then. Odd sides end the
// halving, or are rounded up.
Levels levels_of(const data::Size3& size, std::array<double, 3> spacing, std::int64_t most_levels,
                 bool round_up);

// 1, 1/2, 1/4, …: of every level but the two with the smallest logits.
std::vector<double> deep_supervision_weights(std::int64_t depth);

}  // namespace voxswap::experiments
