// What the sources of forward convolutions and data gradients (volume_rows_*.cpp) give: for f32 and for bf16.
#pragma once

#include "net/backends/convolution/volume_sizes.h"

namespace voxswap::net::convolution {

extern const VolumeMaker volume_maker_portable[2];
extern const VolumeMaker volume_maker_avx2[2];
extern const VolumeMaker volume_maker_avx512[2];
extern const VolumeMaker volume_maker_avx512_bf16;

}  // namespace voxswap::net::convolution
