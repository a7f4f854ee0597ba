// Convolution, its gradients, and the convolution of an upsampled volume.
#include <algorithm>

#include "net/backends/reference/kernels.h"
#include "net/graph/axes.h"
#include "net/graph/block_sums.h"
#include "net/graph/window.h"

namespace voxswap::net::reference {

// All three convolutions are one sum over the same triples (output voxel, input voxel, kernel tap). They
// differ in which of y, x and w they accumulate.

namespace {

struct Axis : KernelAxis {
  std::int64_t input = 1, output = 1;  // sides
  std::int64_t end(std::int64_t o) const { return end_tap(o, input); }
  std::int64_t at(std::int64_t o, std::int64_t tap) const { return start(o) + tap * dilation; }
};

struct Geometry {
  std::int64_t samples, inputs, outputs, taps;  // channels in and out; taps of the kernel
  Axis z, y, x;
};

Geometry geometry(const Shape& input, const Shape& output, const KernelAxes& axes) {
  const auto axis = [&](int i) {
    return Axis{axes[static_cast<std::size_t>(i)], input[i + 1], output[i + 1]};
  };
  return {input[0], input[4], output[4], taps(axes), axis(0), axis(1), axis(2)};
}

// Calls visit(output voxel, input voxel, tap), the voxels counted from the first one of the first sample.
template <class Visit>
void for_each_tap(const Geometry& g, Visit visit) {
  std::int64_t out = 0;
  for (std::int64_t n = 0; n < g.samples; ++n)
    for (std::int64_t oz = 0; oz < g.z.output; ++oz)
      for (std::int64_t oy = 0; oy < g.y.output; ++oy)
        for (std::int64_t ox = 0; ox < g.x.output; ++ox, ++out)
          for (std::int64_t kz = g.z.first_tap(oz); kz < g.z.end(oz); ++kz)
            for (std::int64_t ky = g.y.first_tap(oy); ky < g.y.end(oy); ++ky)
              for (std::int64_t kx = g.x.first_tap(ox); kx < g.x.end(ox); ++kx) {
                const std::int64_t iz = g.z.at(oz, kz), iy = g.y.at(oy, ky), ix = g.x.at(ox, kx);
                visit(out, ((n * g.z.input + iz) * g.y.input + iy) * g.x.input + ix,
                      (kz * g.y.kernel + ky) * g.x.kernel + kx);
              }
}

// Every voxel starts as the bias, or as zero.
void start_with_bias(const Array& array, const std::vector<Array>& inputs) {
  const std::int64_t channels = array.shape[-1];
  for (std::int64_t i = 0; i < array.shape.count(); ++i) {
    array.data[i] = inputs.size() > 2 ? inputs[2].data[i % channels] : 0;
  }
}

double plane_sum(const Array& x, std::int64_t n, std::int64_t z, std::int64_t c) {
  const std::int64_t voxels = x.shape[2] * x.shape[3], channels = x.shape[4];
  const double* first = x.data + (n * x.shape[1] + z) * voxels * channels + c;
  double sum = 0;
  for (std::int64_t v = 0; v < voxels; ++v) sum += first[v * channels];
  return sum;
}

// The row of separate sums that a plane belongs to (net/graph/block_sums.h); without separate sums, all
// planes have one row.
class RowOfPlane {
 public:
  RowOfPlane(const Attributes& attributes, std::int64_t planes) : block_(planes) {
    if (!attributes.flag("apart")) return;
    const SumBlocks blocks = sum_blocks(attributes, planes);
    block_ = blocks.planes;
    if (!attributes.flag("nodes")) return;
    std::int64_t row = 0;
    for (const Blocks& node : tree_nodes({attributes.integer_or("first", 0), blocks.here}))
      row_of_block_.insert(row_of_block_.end(), static_cast<std::size_t>(node.count), row++);
  }
  std::int64_t operator()(std::int64_t plane) const {
    const std::int64_t block = plane / block_;
    return row_of_block_.empty() ? block : row_of_block_[static_cast<std::size_t>(block)];
  }

 private:
  std::int64_t block_;                      // planes
  std::vector<std::int64_t> row_of_block_;  // empty: one row per block
};

// Sums sample by sample and, within each, plane by plane.
void sum_channels(const Array& x, const Array& sums, const RowOfPlane& row_of) {
  const std::int64_t channels = x.shape[-1];
  std::fill_n(sums.data, sums.shape.count(), 0.0);
  for (std::int64_t n = 0; n < x.shape[0]; ++n)
    for (std::int64_t first = 0, end = 0; first < x.shape[1]; first = end) {
      const std::int64_t row = row_of(first);
      while (end < x.shape[1] && row_of(end) == row) ++end;
      for (std::int64_t c = 0; c < channels; ++c) {
        double sum = 0;
        for (std::int64_t z = first; z < end; ++z) sum += plane_sum(x, n, z, c);
        sums.data[row * channels + c] += sum;
      }
    }
}

void add_convolution(const Call& call) {
  const Array &x = call.inputs[0], &w = call.inputs[1], &y = call.outputs[0];
  const Geometry g = geometry(x.shape, y.shape, kernel_axes(call.attributes, w.shape));
  for_each_tap(g, [&](std::int64_t out, std::int64_t in, std::int64_t tap) {
    for (std::int64_t o = 0; o < g.outputs; ++o) {
      const double* weights = w.data + o * g.inputs * g.taps + tap;
      double sum = 0;
      for (std::int64_t i = 0; i < g.inputs; ++i) sum += weights[i * g.taps] * x.data[in * g.inputs + i];
      y.data[out * g.outputs + o] += sum;
    }
  });
}

}  // namespace

// Adds the moments of planes if the convolution has them as an output.
void add_moments(const Call& call) {
  if (call.outputs.size() > 1) plane_moments({{call.outputs[0]}, {call.outputs[1]}, {}, {}, call.context});
}

void conv3d(const Call& call) {
  start_with_bias(call.outputs[0], call.inputs);
  add_convolution(call);
  add_moments(call);
}

void conv3d_sum(const Call& call) {
  std::copy_n(call.inputs[2].data, call.inputs[2].shape.count(), call.outputs[0].data);
  add_convolution(call);
  add_moments(call);
}

void conv3d_data_gradient(const Call& call) {
  const Array &dy = call.inputs[0], &w = call.inputs[1], &dx = call.outputs[0];
  const Geometry g = geometry(dx.shape, dy.shape, kernel_axes(call.attributes, w.shape));
  start_with_bias(dx, call.inputs);
  for_each_tap(g, [&](std::int64_t out, std::int64_t in, std::int64_t tap) {
    for (std::int64_t o = 0; o < g.outputs; ++o) {
      const double* weights = w.data + o * g.inputs * g.taps + tap;
      const double gradient = dy.data[out * g.outputs + o];
      for (std::int64_t i = 0; i < g.inputs; ++i)
        dx.data[in * g.inputs + i] += weights[i * g.taps] * gradient;
    }
  });
}

void conv3d_weight_gradient(const Call& call) {
  const Array &x = call.inputs[0], &dy = call.inputs[1], &dw = call.outputs[0];
  const Geometry g = geometry(x.shape, dy.shape, kernel_axes(call.attributes));
  const std::int64_t depth = dy.shape[1], plane = dy.shape[2] * dy.shape[3];
  const RowOfPlane row_of(call.attributes, depth);
  std::fill_n(dw.data, dw.shape.count(), 0.0);
  for_each_tap(g, [&](std::int64_t out, std::int64_t in, std::int64_t tap) {
    double* const sums = dw.data + row_of(out / plane % depth) * g.outputs * g.inputs * g.taps;
    for (std::int64_t o = 0; o < g.outputs; ++o) {
      double* weights = sums + o * g.inputs * g.taps + tap;
      const double gradient = dy.data[out * g.outputs + o];
      for (std::int64_t i = 0; i < g.inputs; ++i) weights[i * g.taps] += x.data[in * g.inputs + i] * gradient;
    }
  });
  if (call.attributes.flag("bias")) sum_channels(dy, call.outputs[1], row_of);
}

void channel_sum(const Call& call) {
  sum_channels(call.inputs[0], call.outputs[0], RowOfPlane({}, call.inputs[0].shape[1]));
}

void channel_plane_sums(const Call& call) {
  const Array& x = call.inputs[0];
  double* to = call.outputs[0].data;
  for (std::int64_t n = 0; n < x.shape[0]; ++n)
    for (std::int64_t z = 0; z < x.shape[1]; ++z)
      for (std::int64_t c = 0; c < x.shape[4]; ++c) *to++ = plane_sum(x, n, z, c);
}

// The parts of a convolution of an upsampled volume besides the convolution itself: the kernels of its eight
// phases, and the rearrangement of its output.

namespace {

// The tap of a phase's two to which tap k of the 3 contributes.
std::int64_t tap_of(std::int64_t phase, std::int64_t k) {
  return (k + 1 - phase) / 2;
}

// Calls visit(phase, tap of 27, tap of 8) for all taps of all phases.
template <class Visit>
void for_each_tap_of_phase(Visit visit) {
  for (std::int64_t phase = 0; phase < 8; ++phase)
    for (std::int64_t k = 0; k < 27; ++k)
      visit(phase, k,
            4 * tap_of(phase >> 2, k / 9) + 2 * tap_of(phase >> 1 & 1, k / 3 % 3) + tap_of(phase & 1, k % 3));
}

// Calls visit(element of y, element of z) for all of y.
template <class Visit>
void for_each_voxel(const Shape& fine, const Shape& phases, std::int64_t shift, Visit visit) {
  const std::int64_t channels = fine[4];
  std::int64_t i = 0;
  for (std::int64_t n = 0; n < fine[0]; ++n)
    for (std::int64_t z = 0; z < fine[1]; ++z)
      for (std::int64_t y = 0; y < fine[2]; ++y)
        for (std::int64_t x = 0; x < fine[3]; ++x) {
          const std::int64_t from = z - shift;  // -1 is the odd plane before the first even one
          const std::int64_t phase = 4 * (from & 1) + 2 * (y % 2) + x % 2;
          const std::int64_t voxel =
              ((n * phases[1] + (from + 1) / 2) * phases[2] + (y + 1) / 2) * phases[3] + (x + 1) / 2;
          for (std::int64_t c = 0; c < channels; ++c, ++i) visit(i, (voxel * 8 + phase) * channels + c);
        }
}

}  // namespace

void upsampled_weights(const Call& call) {
  const Array &w = call.inputs[0], &kernels = call.outputs[0];
  const std::int64_t pairs = w.shape[0] * w.shape[1];
  std::fill_n(kernels.data, kernels.shape.count(), 0.0);
  for_each_tap_of_phase([&](std::int64_t phase, std::int64_t from, std::int64_t to) {
    for (std::int64_t pair = 0; pair < pairs; ++pair)
      kernels.data[(phase * pairs + pair) * 8 + to] += w.data[pair * 27 + from];
  });
}

void upsampled_weights_gradient(const Call& call) {
  const Array &kernels = call.inputs[0], &dw = call.outputs[0];
  const std::int64_t pairs = dw.shape[0] * dw.shape[1];
  std::fill_n(dw.data, dw.shape.count(), 0.0);
  for_each_tap_of_phase([&](std::int64_t phase, std::int64_t to, std::int64_t from) {
    for (std::int64_t pair = 0; pair < pairs; ++pair)
      dw.data[pair * 27 + to] += kernels.data[(phase * pairs + pair) * 8 + from];
  });
}

void interleave(const Call& call) {
  const Array &z = call.inputs[0], &y = call.outputs[0];
  for_each_voxel(y.shape, z.shape, 0, [&](std::int64_t to, std::int64_t from) { y.data[to] = z.data[from]; });
}

void interleave_gradient(const Call& call) {
  const Array &dy = call.inputs[0], &dz = call.outputs[0];
  std::fill_n(dz.data, dz.shape.count(), 0.0);
  for_each_voxel(dy.shape, dz.shape, call.attributes.integer_or("shift", 0),
                 [&](std::int64_t from, std::int64_t to) { dz.data[to] = dy.data[from]; });
}

}  // namespace voxswap::net::reference
