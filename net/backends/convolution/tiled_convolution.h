// Convolutions of bf16 that make a volume, forward and as gradients of what they read, in tiles
// (tiled_rows.h): activations read as they lie, a workspace that holds the weights alone, and some kilobytes
// on the stack of a thread.
#pragma once

#include <memory>

#include "net/backends/backend.h"
#include "net/backends/convolution/instruction_set.h"
#include "net/backends/convolution/volume_sizes.h"

namespace voxswap::net::convolution {

// Not where a voxel reads a single number of a row: products take two.
bool is_tiled(const VolumeSizes& sizes);

// REQUIRES: is_tiled(sizes); amx or emulated_amx.
std::unique_ptr<Kernel> make_tiled_convolution(const VolumeSizes& sizes, Instructions instructions,
                                               Added added);

}  // namespace voxswap::net::convolution
