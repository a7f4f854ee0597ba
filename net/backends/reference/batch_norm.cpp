// Statistics and sums of a batch from those of its samples, and running statistics (net/ops/batch_norm.cpp).
#include <cmath>

#include "net/backends/reference/kernels.h"

namespace voxswap::net::reference {

void statistics_of_batch(const Call& call) {
  const Array &each = call.inputs[0], &all = call.outputs[0];
  const std::int64_t samples = each.shape[0], channels = each.shape[1];
  const double epsilon = call.attributes.real("epsilon");
  for (std::int64_t c = 0; c < channels; ++c) {
    const auto at = [&](std::int64_t n) { return each.data + 2 * (n * channels + c); };
    double mean = 0, variance = 0;
    for (std::int64_t n = 0; n < samples; ++n) mean += at(n)[0] / static_cast<double>(samples);
    for (std::int64_t n = 0; n < samples; ++n) {
      const double own = 1 / (at(n)[1] * at(n)[1]) - epsilon, difference = at(n)[0] - mean;
      variance += (own + difference * difference) / static_cast<double>(samples);
    }
    for (std::int64_t n = 0; n < samples; ++n) {
      all.data[2 * (n * channels + c)] = mean;
      all.data[2 * (n * channels + c) + 1] = 1 / std::sqrt(variance + epsilon);
    }
  }
}

void sums_of_batch(const Call& call) {
  const Array &each = call.inputs[0], &all = call.outputs[0];
  const std::int64_t samples = each.shape[0], size = each.shape[1] * each.shape[2];
  for (std::int64_t i = 0; i < size; ++i) {
    double sum = 0;
    for (std::int64_t n = 0; n < samples; ++n) sum += each.data[n * size + i];
    for (std::int64_t n = 0; n < samples; ++n) all.data[n * size + i] = sum;
  }
}

void running_statistics(const Call& call) {
  const Array& statistics = call.outputs[0];
  const std::int64_t channels = statistics.shape[1];
  for (std::int64_t i = 0; i < statistics.shape[0] * channels; ++i) {
    statistics.data[2 * i] = call.inputs[0].data[i % channels];
    statistics.data[2 * i + 1] =
        1 / std::sqrt(call.inputs[1].data[i % channels] + call.attributes.real("epsilon"));
  }
}

void running_statistics_update(const Call& call) {
  const double momentum = call.attributes.real("momentum"), count = call.attributes.real("count");
  const double unbiased = count > 1 ? count / (count - 1) : 1;
  for (std::int64_t c = 0; c < call.inputs[0].shape[1]; ++c) {
    const double mean = call.inputs[0].data[2 * c], factor = call.inputs[0].data[2 * c + 1];
    const double variance = unbiased * (1 / (factor * factor) - call.attributes.real("epsilon"));
    double &running_mean = call.updates[0].data[c], &running_variance = call.updates[1].data[c];
    running_mean += momentum * (mean - running_mean);
    running_variance += momentum * (variance - running_variance);
  }
}

}  // namespace voxswap::net::reference
