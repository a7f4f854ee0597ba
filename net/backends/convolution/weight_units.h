// What the sources of weight gradients (weight_rows_*.cpp) export: kernels for f32 and bf16, and minimal
// filtering (volume_rows_*.cpp) for f32.
#pragma once

#include "net/backends/convolution/weight_sizes.h"

namespace voxswap::net::convolution {

extern const AddWeightUnit add_weight_unit_portable[2];
extern const AddWeightUnit add_weight_unit_avx2[2];
extern const AddWeightUnit add_weight_unit_avx512[2];
extern const AddWeightUnit add_weight_unit_avx512_bf16;

extern const AddWeightUnit add_filtered_unit_portable;
extern const AddWeightUnit add_filtered_unit_avx2;
extern const AddWeightUnit add_filtered_unit_avx512;

}  // namespace voxswap::net::convolution
