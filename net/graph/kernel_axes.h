// How the kernel of a convolution or of a pooling lies over a volume, axis by axis, and the attributes of a
// node that say it. Images are volumes whose rows are the planes (net/networks/networks.h), over which
// kernels have a height of one.
//
// `stride`, `padding` (both sides), `dilation` (1 when absent) and, where no weights say it, `kernel` hold
// for all axes, but for those that have their own: the name with _d, _h or _w behind it. Along the depth,
// `front` and `back` are the padding before and behind the volume, where they are there.
#pragma once

#include <array>
#include <cstdint>

#include "net/graph/value.h"

namespace voxswap::net {

// Output position o meets the input positions o stride - before + tap dilation for 0 <= tap < kernel.
struct KernelAxis {
  std::int64_t kernel = 1, stride = 1, before = 0, behind = 0, dilation = 1;

  std::int64_t reach() const { return (kernel - 1) * dilation + 1; }  // from the first tap to the last
  std::int64_t start(std::int64_t output) const { return output * stride - before; }  // of the first tap
  // Taps first <= tap < end of an output position lie inside a volume of that side.
  std::int64_t first_tap(std::int64_t output) const;
  std::int64_t end_tap(std::int64_t output, std::int64_t side) const;
  std::int64_t output_side(std::int64_t side) const {
    return (side + before + behind - reach()) / stride + 1;
  }
  bool operator==(const KernelAxis&) const = default;
};

using KernelAxes = std::array<KernelAxis, 3>;  // depth, height, width

KernelAxes kernel_axes(const Attributes& attributes);                        // REQUIRES: `kernel`
KernelAxes kernel_axes(const Attributes& attributes, const Shape& weights);  // O,I,D,H,W

std::int64_t taps(const KernelAxes& axes);  // of the kernel, all of them
bool is_pointwise(const KernelAxes& axes);  // every output position meets the input position at its place
KernelAxes cube(std::int64_t kernel, std::int64_t stride, std::int64_t padding, std::int64_t dilation = 1);
KernelAxes square(std::int64_t kernel, std::int64_t stride, std::int64_t padding, std::int64_t dilation = 1);
// Of an image whose rows are the planes: flat along the height.
KernelAxes of_rows(std::int64_t kernel, std::int64_t stride, std::int64_t padding, std::int64_t dilation = 1);

// The attributes, as few as say it. REQUIRES: the padding is the same on both sides of height and width.
Attributes attributes_of(const KernelAxes& axes);  // without `kernel`
void set_kernel(Attributes& attributes, const KernelAxes& axes);
// Those of a node that are of its kernel's axes, without `kernel`: gradients of it have them too.
Attributes kernel_attributes(const Attributes& attributes);

// What a kernel with these axes makes of a volume N,D,H,W,C, with so many channels.
Shape output_shape(const Shape& volume, const KernelAxes& axes, std::int64_t channels);

}  // namespace voxswap::net
