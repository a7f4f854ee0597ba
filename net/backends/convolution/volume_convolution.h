// Convolutions that make a volume, forward and as gradients of what they read, by kernels of our own: the
// same bits for any number of threads and in pieces of a volume, activations read as they lie, and a
// workspace that holds the weights alone.
#pragma once

#include <memory>
#include <optional>

#include "net/backends/backend.h"
#include "net/backends/convolution/instruction_set.h"
#include "net/backends/convolution/volume_sizes.h"
#include "net/graph/kernel_axes.h"

namespace voxswap::net::convolution {

// y = w x, with axes of that convolution; or, as its gradient, what x is where y is given: then `read` is dy
// and `made` dx. Nothing where there is no kernel for it: more than three taps along an axis, dilation,
// strides above two, channels by the thousand.
std::optional<VolumeSizes> volume_sizes(const Shape& read, const Shape& made, const KernelAxes& axes,
                                        bool gradient);

// A ObservableKernel of a node of inputs x, w (, b or s), or dy, w (, b). REQUIRES: f32 or bf16.
std::unique_ptr<Kernel> make_volume_convolution(const VolumeSizes& sizes, ElementType type,
                                                Instructions instructions, Added added);

}  // namespace voxswap::net::convolution
