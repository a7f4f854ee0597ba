// training.preset: a published training recipe, as values of keys that the experiment does not set.
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

// Adds the preset's settings; returns the added keys, none without a preset.
std::vector<std::string> add_preset(Settings& settings);

// Sets the parts of the preset that depend on the network's input size: levels of a U-Net, and loss weights
// for deep supervision. Returns the keys that it set.
std::vector<std::string> settle_preset(pipeline::Experiment& experiment, const Given& given);

// The levels of a U-Net for a volume: which axes each level halves.
struct Levels {
  std::vector<net::Along> strides, kernels;  // per level, finest first
  Size3 size{};                              // divisible by the strides: the given size, or rounded up
};

// Halves, as nnU-Net does, every axis that keeps at least 4 voxels, except axes whose voxels are at least
// twice as long as those of the finest axis: these are halved, and convolved along, only from later levels
// on. Odd sizes end halving or are rounded up.
Levels levels_of(const Size3& size, Spacing spacing, std::int64_t most_levels, bool round_up);

constexpr std::int64_t most_levels = 5;  // of the networks that configure chooses
// Rounded up to sides that such a network can halve.
Size3 rounded_up(const Size3& size, const Spacing& spacing);

// 1, 1/2, 1/4, … for every level except the two with the smallest logits.
std::vector<double> deep_supervision_weights(std::int64_t depth);

}  // namespace voxswap::experiments
