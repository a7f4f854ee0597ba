// Convolutions by minimal filtering along rows (filtered_sizes.h), forward and data gradient, for kernels of
// three taps along a row, without strides, in f32. They take about half of the products. As with our other
// kernels, the result does not depend on threads or slabs.
#pragma once

#include <memory>

#include "net/backends/backend.h"
#include "net/backends/convolution/instruction_set.h"
#include "net/backends/convolution/volume_sizes.h"

namespace voxswap::net::convolution {

// Whether minimal filtering is faster. The answer depends on channels and sides of planes but not on the
// depth, because slabs of a volume must be computed as the whole is.
bool is_filtered(const VolumeSizes& sizes);

// REQUIRES: is_filtered; portable, avx2 or avx512.
std::unique_ptr<Kernel> make_filtered_convolution(const VolumeSizes& sizes, Instructions instructions,
                                                  Added added);

}  // namespace voxswap::net::convolution
