// Our own convolution kernels, forward and data gradient. Results do not depend on threads or slabs.
// Activations are read in place, and the workspace holds only the weights.
#pragma once

#include <memory>
#include <optional>

#include "net/backends/backend.h"
#include "net/backends/convolution/instruction_set.h"
#include "net/backends/convolution/volume_sizes.h"
#include "net/graph/kernel_axes.h"

namespace voxswap::net::convolution {

// Sizes of y = w x with these axes, or of its data gradient: then `read` is dy and `made` dx. Nullopt if
// there is no kernel for it: more than three taps along an axis, dilation, strides above two, or thousands of
// channels.
std::optional<VolumeSizes> volume_sizes(const Shape& read, const Shape& made, const KernelAxes& axes,
                                        bool gradient);

// An ObservableKernel for a node with inputs x, w (, b or s), or dy, w (, b). REQUIRES: f32 or bf16.
std::unique_ptr<Kernel> make_volume_convolution(const VolumeSizes& sizes, ElementType type,
                                                Instructions instructions, Added added);

}  // namespace voxswap::net::convolution
