// Convolution and its gradients. All three are one sum over the same triples (output voxel, input voxel, tap
// of the kernel); they differ in which of y, x and w is the one that is added to.
#include <algorithm>

#include "net/backends/reference/kernels.h"

namespace voxswap::net::reference {

namespace {

// One axis: output position o meets input position o * stride + tap - padding where that lies inside. What is
// behind the volume needs no telling.
struct Axis {
  std::int64_t input, output, kernel, stride, padding;
  std::int64_t start(std::int64_t o) const { return o * stride - padding; }  // input position of tap 0
  std::int64_t first_tap(std::int64_t o) const { return std::max<std::int64_t>(0, -start(o)); }
  std::int64_t end_tap(std::int64_t o) const { return std::min(kernel, input - start(o)); }
};

struct Geometry {
  std::int64_t samples, inputs, outputs, taps;  // channels in and out; kernel^3
  Axis z, y, x;
};

Geometry geometry(const Shape& input, const Shape& output, std::int64_t kernel,
                  const Attributes& attributes) {
  const std::int64_t stride = attributes.integer("stride"), padding = attributes.integer("padding");
  const auto axis = [&](int a, std::int64_t before) {
    return Axis{input[a], output[a], kernel, stride, before};
  };
  const std::int64_t front = attributes.integer_or("front", padding);
  return {input[0],       input[4],         output[4],       kernel * kernel * kernel,
          axis(1, front), axis(2, padding), axis(3, padding)};
}

// Calls visit(output voxel, input voxel, tap), the voxels counted from the first one of the first sample.
template <class Visit>
void for_each_tap(const Geometry& g, Visit visit) {
  std::int64_t out = 0;
  for (std::int64_t n = 0; n < g.samples; ++n)
    for (std::int64_t oz = 0; oz < g.z.output; ++oz)
      for (std::int64_t oy = 0; oy < g.y.output; ++oy)
        for (std::int64_t ox = 0; ox < g.x.output; ++ox, ++out)
          for (std::int64_t kz = g.z.first_tap(oz); kz < g.z.end_tap(oz); ++kz)
            for (std::int64_t ky = g.y.first_tap(oy); ky < g.y.end_tap(oy); ++ky)
              for (std::int64_t kx = g.x.first_tap(ox); kx < g.x.end_tap(ox); ++kx) {
                const std::int64_t iz = g.z.start(oz) + kz, iy = g.y.start(oy) + ky, ix = g.x.start(ox) + kx;
                visit(out, ((n * g.z.input + iz) * g.y.input + iy) * g.x.input + ix,
                      (kz * g.z.kernel + ky) * g.z.kernel + kx);
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

// Sample after sample, of each the planes one after the other.
void sum_channels(const Array& x, const Array& sums) {
  const std::int64_t channels = x.shape[-1];
  std::fill_n(sums.data, channels, 0.0);
  for (std::int64_t n = 0; n < x.shape[0]; ++n)
    for (std::int64_t c = 0; c < channels; ++c) {
      double sum = 0;
      for (std::int64_t z = 0; z < x.shape[1]; ++z) sum += plane_sum(x, n, z, c);
      sums.data[c] += sum;
    }
}

}  // namespace

namespace {

void add_convolution(const Call& call) {
  const Array &x = call.inputs[0], &w = call.inputs[1], &y = call.outputs[0];
  const Geometry g = geometry(x.shape, y.shape, w.shape[2], call.attributes);
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

void conv3d(const Call& call) {
  start_with_bias(call.outputs[0], call.inputs);
  add_convolution(call);
}

void conv3d_sum(const Call& call) {
  std::copy_n(call.inputs[2].data, call.inputs[2].shape.count(), call.outputs[0].data);
  add_convolution(call);
}

void conv3d_data_gradient(const Call& call) {
  const Array &dy = call.inputs[0], &w = call.inputs[1], &dx = call.outputs[0];
  const Geometry g = geometry(dx.shape, dy.shape, w.shape[2], call.attributes);
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
  const Geometry g = geometry(x.shape, dy.shape, dw.shape[2], call.attributes);
  std::fill_n(dw.data, dw.shape.count(), 0.0);
  for_each_tap(g, [&](std::int64_t out, std::int64_t in, std::int64_t tap) {
    for (std::int64_t o = 0; o < g.outputs; ++o) {
      double* weights = dw.data + o * g.inputs * g.taps + tap;
      const double gradient = dy.data[out * g.outputs + o];
      for (std::int64_t i = 0; i < g.inputs; ++i) weights[i * g.taps] += x.data[in * g.inputs + i] * gradient;
    }
  });
  if (call.attributes.flag("bias")) sum_channels(dy, call.outputs[1]);
}

void channel_sum(const Call& call) {
  sum_channels(call.inputs[0], call.outputs[0]);
}

void channel_plane_sums(const Call& call) {
  const Array& x = call.inputs[0];
  double* to = call.outputs[0].data;
  for (std::int64_t n = 0; n < x.shape[0]; ++n)
    for (std::int64_t z = 0; z < x.shape[1]; ++z)
      for (std::int64_t c = 0; c < x.shape[4]; ++c) *to++ = plane_sum(x, n, z, c);
}

}  // namespace voxswap::net::reference
