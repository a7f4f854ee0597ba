// An image on its way to the device: in the type in which the network reads it, with zeros behind its
// channels where the device wants its voxels wider (net/backends/backend.h: voxel_alignment).
#pragma once

#include <cstddef>
#include <span>

#include "net/graph/graph.h"

namespace voxswap::pipeline {

// Whether an image's own bytes are those of the network's input.
bool is_staged(std::span<const float> image, const net::Value& input);
// Writes input.bytes() bytes. REQUIRES: as many voxels in both, no fewer channels in the input.
void stage(std::span<const float> image, const net::Value& input, std::byte* to);

}  // namespace voxswap::pipeline
