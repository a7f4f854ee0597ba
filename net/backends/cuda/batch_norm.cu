// Statistics and sums of a batch from those of its samples, and running statistics (net/ops/batch_norm.cpp):
// one thread per channel, in double.
#include "net/backends/cuda/kernels.h"
#include "net/backends/cuda/launch.cuh"

namespace voxswap::net::cuda {

namespace {

__global__ void pool_statistics(const float* each, std::int64_t samples, std::int64_t channels,
                                double epsilon, float* all) {
  const std::int64_t c = index_of_thread();
  if (c >= channels) return;
  double mean = 0, variance = 0;
  for (std::int64_t n = 0; n < samples; ++n) mean += each[2 * (n * channels + c)];
  mean /= static_cast<double>(samples);
  for (std::int64_t n = 0; n < samples; ++n) {
    const double factor = each[2 * (n * channels + c) + 1];
    const double difference = each[2 * (n * channels + c)] - mean;
    variance += 1 / (factor * factor) - epsilon + difference * difference;
  }
  const double factor = 1 / sqrt(variance / static_cast<double>(samples) + epsilon);
  for (std::int64_t n = 0; n < samples; ++n) {
    all[2 * (n * channels + c)] = static_cast<float>(mean);
    all[2 * (n * channels + c) + 1] = static_cast<float>(factor);
  }
}

__global__ void add_samples(const float* each, std::int64_t samples, std::int64_t size, float* all) {
  const std::int64_t i = index_of_thread();
  if (i >= size) return;
  double sum = 0;
  for (std::int64_t n = 0; n < samples; ++n) sum += each[n * size + i];
  for (std::int64_t n = 0; n < samples; ++n) all[n * size + i] = static_cast<float>(sum);
}

__global__ void running_statistics(const float* mean, const float* variance, std::int64_t instances,
                                   std::int64_t channels, double epsilon, float* statistics) {
  const std::int64_t i = index_of_thread();
  if (i >= instances) return;
  statistics[2 * i] = mean[i % channels];
  statistics[2 * i + 1] = static_cast<float>(1 / sqrt(variance[i % channels] + epsilon));
}

struct RunningRule {
  double momentum, unbiased, epsilon;
};

__global__ void update_running(const float* statistics, std::int64_t channels, RunningRule rule, float* mean,
                               float* variance) {
  const std::int64_t c = index_of_thread();
  if (c >= channels) return;
  const double factor = statistics[2 * c + 1], found = rule.unbiased * (1 / (factor * factor) - rule.epsilon);
  mean[c] = static_cast<float>(mean[c] + rule.momentum * (static_cast<double>(statistics[2 * c]) - mean[c]));
  variance[c] = static_cast<float>(variance[c] + rule.momentum * (found - variance[c]));
}

}  // namespace

std::unique_ptr<Kernel> make_statistics_of_batch(const Graph& graph, const Node& node, Device&) {
  need_f32(node.name, input_type(graph, node));
  const Shape& each = input_shape(graph, node);
  const std::int64_t samples = each[0], channels = each[1];
  const double epsilon = node.attributes.real("epsilon");
  return make_own([=](const KernelArguments& arguments) {
    launch("statistics_of_batch", pool_statistics, blocks_for(channels), block_threads,
           input<float>(arguments, 0), samples, channels, epsilon, output<float>(arguments));
  });
}

std::unique_ptr<Kernel> make_sums_of_batch(const Graph& graph, const Node& node, Device&) {
  need_f32(node.name, input_type(graph, node));
  const Shape& each = input_shape(graph, node);
  const std::int64_t samples = each[0], size = each[1] * each[2];
  return make_own([=](const KernelArguments& arguments) {
    launch("sums_of_batch", add_samples, blocks_for(size), block_threads, input<float>(arguments, 0), samples,
           size, output<float>(arguments));
  });
}

std::unique_ptr<Kernel> make_running_statistics(const Graph& graph, const Node& node, Device&) {
  need_f32(node.name, input_type(graph, node));
  const Shape& statistics = output_shape(graph, node);
  const std::int64_t instances = statistics[0] * statistics[1], channels = statistics[1];
  const double epsilon = node.attributes.real("epsilon");
  return make_own([=](const KernelArguments& arguments) {
    launch("running_statistics", running_statistics, blocks_for(instances), block_threads,
           input<float>(arguments, 0), input<float>(arguments, 1), instances, channels, epsilon,
           output<float>(arguments));
  });
}

std::unique_ptr<Kernel> make_running_statistics_update(const Graph& graph, const Node& node, Device&) {
  need_f32(node.name, input_type(graph, node));
  const std::int64_t channels = input_shape(graph, node)[1];
  const double count = node.attributes.real("count");
  const RunningRule rule = {node.attributes.real("momentum"), count > 1 ? count / (count - 1) : 1,
                            node.attributes.real("epsilon")};
  return make_own([=](const KernelArguments& arguments) {
    launch("running_statistics_update", update_running, blocks_for(channels), block_threads,
           input<float>(arguments, 0), channels, rule, static_cast<float*>(arguments.updates[0]),
           static_cast<float*>(arguments.updates[1]));
  });
}

}  // namespace voxswap::net::cuda
