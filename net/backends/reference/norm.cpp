// Instance norm (Ulyanov et al. 2016: per sample and channel, over the voxels) with what rides on its pass
// over memory: leaky ReLU, the scale of spatial dropout, a residual.
#include <algorithm>
#include <cmath>

#include "net/backends/reference/kernels.h"

namespace voxswap::reference {

namespace {

// The inputs x, statistics, gamma, beta and scale, seen from one element.
struct Normalized {
  const double *x, *statistics, *gamma, *beta, *scale;  // scale: null without dropout
  Extents extent;
  double slope;

  std::int64_t channel(std::int64_t i) const { return i % extent.channels; }
  std::int64_t instance(std::int64_t i) const {  // n * C + c
    return i / (extent.voxels * extent.channels) * extent.channels + channel(i);
  }
  double inverse_deviation(std::int64_t i) const { return statistics[2 * instance(i) + 1]; }
  double xhat(std::int64_t i) const { return (x[i] - statistics[2 * instance(i)]) * inverse_deviation(i); }
  double z(std::int64_t i) const { return gamma[channel(i)] * xhat(i) + beta[channel(i)]; }
  double dropout(std::int64_t i) const { return scale != nullptr ? scale[instance(i)] : 1; }
  double dz(std::int64_t i, double dy) const { return dy * dropout(i) * (z(i) > 0 ? 1 : slope); }
};

Normalized normalized(const Call& call, const Array* scale) {
  const auto& in = call.inputs;
  return {in[0].data,
          in[1].data,
          in[2].data,
          in[3].data,
          scale != nullptr ? scale->data : nullptr,
          extents(in[0].shape),
          call.attributes.real("slope")};
}

// The optional scale is the input at `position`.
const Array* scale_at(const Call& call, std::size_t position) {
  return call.attributes.flag("has_scale") ? &call.inputs[position] : nullptr;
}

}  // namespace

void instance_norm_statistics(const Call& call) {
  const Array &x = call.inputs[0], &statistics = call.outputs[0];
  const auto [samples, voxels, channels] = extents(x.shape);
  const double epsilon = call.attributes.real("epsilon");
  for (std::int64_t n = 0; n < samples; ++n) {
    for (std::int64_t c = 0; c < channels; ++c) {
      const double* first = x.data + n * voxels * channels + c;
      double sum = 0, squares = 0;
      for (std::int64_t v = 0; v < voxels; ++v) sum += first[v * channels];
      const double mean = sum / static_cast<double>(voxels);
      for (std::int64_t v = 0; v < voxels; ++v) squares += std::pow(first[v * channels] - mean, 2);
      double* pair = statistics.data + 2 * (n * channels + c);
      pair[0] = mean;
      pair[1] = 1 / std::sqrt(squares / static_cast<double>(voxels) + epsilon);
    }
  }
}

void norm_activation(const Call& call) {
  const Array& y = call.outputs[0];
  const Normalized norm = normalized(call, scale_at(call, 4));
  const double* residual = call.attributes.flag("has_residual") ? call.inputs.back().data : nullptr;
  for (std::int64_t i = 0; i < y.shape.count(); ++i) {
    const double z = norm.z(i);
    y.data[i] = (z > 0 ? z : norm.slope * z) * norm.dropout(i) + (residual != nullptr ? residual[i] : 0);
  }
}

void norm_activation_sums(const Call& call) {
  const Array &dy = call.inputs[4], &sums = call.outputs[0];
  const Normalized norm = normalized(call, scale_at(call, 5));
  std::fill_n(sums.data, sums.shape.count(), 0.0);
  for (std::int64_t i = 0; i < dy.shape.count(); ++i) {
    const double dz = norm.dz(i, dy.data[i]);
    sums.data[2 * norm.instance(i)] += dz;
    sums.data[2 * norm.instance(i) + 1] += dz * norm.xhat(i);
  }
}

void norm_activation_gradient(const Call& call) {
  const Array &dy = call.inputs[4], &sums = call.inputs[5], &dx = call.outputs[0];
  const Normalized norm = normalized(call, scale_at(call, 6));
  const double voxels = static_cast<double>(norm.extent.voxels);
  for (std::int64_t i = 0; i < dx.shape.count(); ++i) {
    const double* sum = sums.data + 2 * norm.instance(i);
    dx.data[i] = norm.gamma[norm.channel(i)] * norm.inverse_deviation(i) *
                 (norm.dz(i, dy.data[i]) - sum[0] / voxels - norm.xhat(i) * sum[1] / voxels);
  }
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

}  // namespace voxswap::reference
