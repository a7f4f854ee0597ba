// What the sources of convolutions and data gradients (volume_rows_*.cpp) export: kernels for f32 and bf16,
// and minimal filtering for f32.
#pragma once

#include "net/backends/convolution/filtered_sizes.h"
#include "net/backends/convolution/volume_sizes.h"

namespace voxswap::net::convolution {

extern const VolumeMaker volume_maker_portable[2];
extern const VolumeMaker volume_maker_avx2[2];
extern const VolumeMaker volume_maker_avx512[2];
extern const VolumeMaker volume_maker_avx512_bf16;

extern const FilteredMaker filtered_maker_portable;
extern const FilteredMaker filtered_maker_avx2;
extern const FilteredMaker filtered_maker_avx512;

}  // namespace voxswap::net::convolution
