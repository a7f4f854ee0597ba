// Instance norm (Ulyanov et al. 2016: per sample and channel, over the voxels), fused with leaky ReLU, the
// scale of spatial dropout, and a residual.
#include <algorithm>

#include "net/backends/moments.h"
#include "net/backends/reference/kernels.h"

namespace voxswap::net::reference {

namespace {

// Calls visit(element, n * C + c, c) for every element of an N,D,H,W,C array.
template <class Visit>
void for_each_element(const Shape& shape, Visit visit) {
  const auto [samples, voxels, channels] = extents(shape);
  std::int64_t i = 0;
  for (std::int64_t n = 0; n < samples; ++n)
    for (std::int64_t v = 0; v < voxels; ++v)
      for (std::int64_t c = 0; c < channels; ++c, ++i) visit(i, n * channels + c, c);
}

// The inputs x, statistics, gamma, beta and scale, seen from one element.
struct Normalized {
  const double *x, *statistics, *gamma, *beta, *scale;  // scale: null without dropout
  double slope;

  // `scale_input` is the index of the optional scale among the inputs.
  Normalized(const Call& call, std::size_t scale_input)
      : x(call.inputs[0].data),
        statistics(call.inputs[1].data),
        gamma(call.inputs[2].data),
        beta(call.inputs[3].data),
        scale(call.attributes.flag("has_scale") ? call.inputs[scale_input].data : nullptr),
        slope(call.attributes.real("slope")) {}

  double inverse_deviation(std::int64_t instance) const { return statistics[2 * instance + 1]; }
  double xhat(std::int64_t i, std::int64_t instance) const {
    return (x[i] - statistics[2 * instance]) * inverse_deviation(instance);
  }
  double z(std::int64_t i, std::int64_t instance, std::int64_t c) const {
    return gamma[c] * xhat(i, instance) + beta[c];
  }
  double dropout(std::int64_t instance) const { return scale != nullptr ? scale[instance] : 1; }
  double dz(std::int64_t i, std::int64_t instance, std::int64_t c, double dy) const {
    return dy * dropout(instance) * (z(i, instance, c) > 0 ? 1 : slope);
  }
};

// Mean and sum of squared differences from it of one plane and channel.
struct PlaneMoments {
  double mean = 0, squares = 0;
  PlaneMoments(const double* first, std::int64_t voxels, std::int64_t channels) {
    for (std::int64_t v = 0; v < voxels; ++v) mean += first[v * channels];
    mean /= static_cast<double>(voxels);
    for (std::int64_t v = 0; v < voxels; ++v) {
      const double centered = first[v * channels] - mean;
      squares += centered * centered;
    }
  }
};

// Calls visit(sample, channel, plane, moments).
template <class Visit>
void for_each_plane(const Array& x, Visit visit) {
  const std::int64_t depth = x.shape[1], voxels = x.shape[2] * x.shape[3], channels = x.shape[4];
  for (std::int64_t n = 0; n < x.shape[0]; ++n)
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t z = 0; z < depth; ++z)
        visit(n, c, z, PlaneMoments(x.data + (n * depth + z) * voxels * channels + c, voxels, channels));
}

}  // namespace

void plane_moments(const Call& call) {
  const Array& x = call.inputs[0];
  for_each_plane(x, [&](std::int64_t n, std::int64_t c, std::int64_t z, const PlaneMoments& found) {
    double* pair = call.outputs[0].data + 2 * ((n * x.shape[1] + z) * x.shape[4] + c);
    pair[0] = found.mean;
    pair[1] = found.squares;
  });
}

void instance_norm_statistics(const Call& call) {
  const Array& x = call.inputs[0];
  const double epsilon = call.attributes.real("epsilon"),
               voxels = static_cast<double>(x.shape[2] * x.shape[3]);
  Moments moments;
  for_each_plane(x, [&](std::int64_t n, std::int64_t c, std::int64_t z, const PlaneMoments& found) {
    if (z == 0) moments = {};
    moments.add(found.mean, found.squares, voxels);
    double* pair = call.outputs[0].data + 2 * (n * x.shape[4] + c);
    pair[0] = moments.mean;
    pair[1] = moments.inverse_deviation(voxels, epsilon);
  });
}

void norm_activation(const Call& call) {
  const Array& y = call.outputs[0];
  const Normalized norm(call, 4);
  const double* residual = call.attributes.flag("has_residual") ? call.inputs.back().data : nullptr;
  for_each_element(y.shape, [&](std::int64_t i, std::int64_t instance, std::int64_t c) {
    const double z = norm.z(i, instance, c);
    y.data[i] =
        (z > 0 ? z : norm.slope * z) * norm.dropout(instance) + (residual != nullptr ? residual[i] : 0);
  });
}

namespace {

void sum_gradients(const Call& call, Sum what) {
  const Array& dy = call.inputs[4];
  const Normalized norm(call, 5);
  const auto add = [&](std::int64_t i, std::int64_t instance, std::int64_t c, double* sums) {
    const double dz = norm.dz(i, instance, c, dy.data[i]);
    sums[0] += dz;
    sums[1] += dz * norm.xhat(i, instance);
  };
  sum_over_planes(dy.shape, 2, what, call.outputs[0].data, add);
}

}  // namespace

void norm_activation_sums(const Call& call) {
  sum_gradients(call, Sum::all_planes);
}
void norm_activation_plane_sums(const Call& call) {
  sum_gradients(call, Sum::each_plane);
}

void norm_activation_gradient(const Call& call) {
  const Array &dy = call.inputs[4], &sums = call.inputs[5], &dx = call.outputs[0];
  const Normalized norm(call, 6);
  const double voxels = call.attributes.real("voxels");
  for_each_element(dx.shape, [&](std::int64_t i, std::int64_t instance, std::int64_t c) {
    const double* sum = sums.data + 2 * instance;
    dx.data[i] =
        norm.gamma[c] * norm.inverse_deviation(instance) *
        (norm.dz(i, instance, c, dy.data[i]) - sum[0] / voxels - norm.xhat(i, instance) * sum[1] / voxels);
  });
}

void norm_parameter_gradient(const Call& call) {
  const Array &sums = call.inputs[0], &dgamma = call.outputs[0], &dbeta = call.outputs[1];
  const std::int64_t channels = dgamma.shape.count();
  std::fill_n(dgamma.data, channels, 0.0);
  std::fill_n(dbeta.data, channels, 0.0);
  for (std::int64_t i = 0; i < sums.shape.count() / 2; ++i) {
    dbeta.data[i % channels] += sums.data[2 * i];
    dgamma.data[i % channels] += sums.data[2 * i + 1];
  }
}

}  // namespace voxswap::net::reference
