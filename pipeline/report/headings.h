// Headings of columns and keys for people, with units.
#pragma once

#include <string>

namespace voxswap::pipeline {

// "epoch_seconds_mean" -> "Epoch, s", "preprocess.resolution" -> "Resolution, voxels", "dice_core" -> "Dice,
// core". A name that is not known is taken apart: "a.b.stall_seconds" -> "Stall, s".
std::string heading_of(const std::string& column);

}  // namespace voxswap::pipeline
