// Convolutions that make a volume by minimal filtering along rows (filtered_sizes.h), forward and as
// gradients of what they read: three taps along a row, no strides, f32. About half of the products, and the
// same promises as of other kernels of our own: the same bits for any number of threads and in pieces of a
// volume.
#pragma once

#include <memory>

#include "net/backends/backend.h"
#include "net/backends/convolution/instruction_set.h"
#include "net/backends/convolution/volume_sizes.h"

namespace voxswap::net::convolution {

// Whether it is the faster way: by channels and by sides of planes, not by how many there are, because pieces
// of a volume are made as the whole is.
bool is_filtered(const VolumeSizes& sizes);

// REQUIRES: is_filtered; portable, avx2 or avx512.
std::unique_ptr<Kernel> make_filtered_convolution(const VolumeSizes& sizes, Instructions instructions,
                                                  Added added);

}  // namespace voxswap::net::convolution
