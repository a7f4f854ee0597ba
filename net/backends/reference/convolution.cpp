// Convolution and its gradients.
#include <algorithm>

#include "net/backends/reference/kernels.h"
#include "net/backends/reference/plane_sums.h"
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

}  // namespace voxswap::net::reference
