// What the sources of convolutions in tiles (tiled_rows_*.cpp, tiled_weights_*.cpp) give.
#pragma once

#include "net/backends/convolution/tiled_sizes.h"
#include "net/backends/convolution/weight_sizes.h"

namespace voxswap::net::convolution {

extern const MakeTiledPlanes make_tiled_planes_amx;
extern const MakeTiledPlanes make_tiled_planes_emulated;
extern const AddWeightUnit add_weight_unit_amx;
extern const AddWeightUnit add_weight_unit_emulated_amx;

}  // namespace voxswap::net::convolution
