// Geometry along the axes of a volume: of the kernel of a convolution or pooling, and of linear
// interpolation, and its encoding in a node's attributes. In the graph, the rows of an image are the planes
// of a volume of height 1 (net/networks/networks.h), so its kernels have height 1.
//
// Attributes `stride`, `padding` (both sides), `dilation` (default 1) and, for nodes without weights,
// `kernel` hold for all axes. The same names with suffix _d, _h or _w override them for one axis. `front` and
// `back`, if present, are the padding before and behind the volume along the depth.
#pragma once

#include <array>
#include <cstdint>

#include "net/graph/value.h"

namespace voxswap::net {

// Output position o reads input positions o stride - before + tap dilation for 0 <= tap < kernel.
struct KernelAxis {
  std::int64_t kernel = 1, stride = 1, before = 0, behind = 0, dilation = 1;

  std::int64_t reach() const { return (kernel - 1) * dilation + 1; }  // from the first tap to the last
  std::int64_t start(std::int64_t output) const {
    return output * stride - before;
  }  // position of the first tap
  // Taps first_tap <= tap < end_tap of an output position are inside a volume of this side.
  std::int64_t first_tap(std::int64_t output) const;
  std::int64_t end_tap(std::int64_t output, std::int64_t side) const;
  std::int64_t output_side(std::int64_t side) const {
    return (side + before + behind - reach()) / stride + 1;
  }
  bool operator==(const KernelAxis&) const = default;
};

using KernelAxes = std::array<KernelAxis, 3>;  // depth, height, width

KernelAxes kernel_axes(const Attributes& attributes);                        // REQUIRES: attribute `kernel`
KernelAxes kernel_axes(const Attributes& attributes, const Shape& weights);  // O,I,D,H,W

std::int64_t taps(const KernelAxes& axes);  // number of taps of the kernel
bool is_pointwise(const KernelAxes& axes);  // kernel 1, stride 1, no padding
KernelAxes cube(std::int64_t kernel, std::int64_t stride, std::int64_t padding, std::int64_t dilation = 1);
KernelAxes square(std::int64_t kernel, std::int64_t stride, std::int64_t padding, std::int64_t dilation = 1);
// For an image whose rows are the planes: kernel 1 along the height.
KernelAxes of_rows(std::int64_t kernel, std::int64_t stride, std::int64_t padding, std::int64_t dilation = 1);

// The shortest encoding as attributes. REQUIRES: height and width are padded alike on both sides.
Attributes attributes_of(const KernelAxes& axes);  // without `kernel`
void set_kernel(Attributes& attributes, const KernelAxes& axes);
// The attributes of a node that describe its kernel's axes, without `kernel`. Its gradients have the same.
Attributes kernel_attributes(const Attributes& attributes);

// Shape of the output for an input N,D,H,W,C and `channels` output channels.
Shape output_shape(const Shape& volume, const KernelAxes& axes, std::int64_t channels);

// One axis of resize_linear (net/ops/resampling.cpp), from a side of x to a side of y. A node may hold
// only a range of planes: attributes x_depth and y_depth are the depths of the whole volumes, x_first and
// y_first the first planes held.
struct LinearAxis {
  std::int64_t side = 1, outputs = 1;             // sides of the whole x and y
  std::int64_t first_side = 0, first_output = 0;  // first plane held

  // The two input positions between which an output position is interpolated, and the weight of `high`.
  struct Between {
    std::int64_t low, high;
    double of_high;
    bool operator==(const Between&) const = default;
  };
  Between between(std::int64_t output) const;  // in positions of the whole volumes
  Between between_here(std::int64_t output) const;

  // Output positions from <= o < to that read input positions from <= i < to. Empty if to <= from.
  struct Range {
    std::int64_t from, to;
  };
  Range outputs_of(std::int64_t from, std::int64_t to) const;
};

// The depth axis. `x` and `y` are the shapes held in the forward pass.
LinearAxis linear_depth(const Attributes& attributes, const Shape& x, const Shape& y);

}  // namespace voxswap::net
