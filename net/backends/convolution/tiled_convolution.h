// Convolutions in bf16, forward and data gradient, by tile products (tiled_rows.h). Activations are read in
// place. The workspace holds only the weights, and each thread needs some kilobytes of stack.
#pragma once

#include <memory>

#include "net/backends/backend.h"
#include "net/backends/convolution/instruction_set.h"
#include "net/backends/convolution/volume_sizes.h"

namespace voxswap::net::convolution {

// False if a voxel reads a single number of a row, because products take two.
bool is_tiled(const VolumeSizes& sizes);

// REQUIRES: is_tiled(sizes); amx or emulated_amx.
std::unique_ptr<Kernel> make_tiled_convolution(const VolumeSizes& sizes, Instructions instructions,
                                               Added added);

}  // namespace voxswap::net::convolution
