// Operations on a handful of numbers: what they cost is their launch.
#include <algorithm>

#include "base/philox.h"
#include "net/backends/cuda/launch.h"
#include "net/backends/cuda/own_kernels.h"

namespace voxswap::net::cuda {

namespace {

__global__ void fill(float* to, float value) {
  *to = value;
}

__global__ void dropout_scale(float* scale, std::int64_t count, Philox random, double rate) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count)
    scale[i] =
        random.uniform(static_cast<std::uint64_t>(i)) < rate ? 0.0f : static_cast<float>(1 / (1 - rate));
}

// What loss_value weighs its sums with: one channel's Dice, one number's cross entropy.
struct LossWeights {
  double dice, cross_entropy, epsilon;
  int instances, channels, first;

  __device__ double dice_of(int instance) const { return instance % channels >= first ? dice : 0.0; }
};

LossWeights loss_weights(const Graph& graph, const Node& node) {
  const Attributes& a = node.attributes;
  const Shape& sums = input_shape(graph, node);
  const auto channels = static_cast<int>(sums[1]), first = static_cast<int>(a.integer("first"));
  const auto samples = static_cast<double>(sums[0]);
  return {.dice = a.real("dice") / (samples * std::max(1, channels - first)),
          .cross_entropy = a.real("cross_entropy") / (samples * a.real("count")),
          .epsilon = a.real("epsilon"),
          .instances = static_cast<int>(sums[0]) * channels,
          .channels = channels,
          .first = first};
}

__global__ void loss_value(const float* sums, LossWeights weights, float* loss) {
  double all = 0;
  for (int i = 0; i < weights.instances; ++i) {
    const float* sum = sums + 4 * i;
    const double denominator = static_cast<double>(sum[1]) + sum[2] + weights.epsilon;
    all +=
        weights.cross_entropy * sum[3] - weights.dice_of(i) * (2.0 * sum[0] + weights.epsilon) / denominator;
  }
  *loss = static_cast<float>(all);
}

__global__ void loss_value_gradient(const float* sums, const float* dloss, LossWeights weights,
                                    float* gradient) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= weights.instances) return;
  const float* sum = sums + 4 * i;
  const double denominator = static_cast<double>(sum[1]) + sum[2] + weights.epsilon;
  const double dice = *dloss * weights.dice_of(i);
  gradient[4 * i] = static_cast<float>(-2 * dice / denominator);
  gradient[4 * i + 1] = 0;
  gradient[4 * i + 2] =
      static_cast<float>(dice * (2.0 * sum[0] + weights.epsilon) / (denominator * denominator));
  gradient[4 * i + 3] = static_cast<float>(*dloss * weights.cross_entropy);
}

}  // namespace

std::unique_ptr<Kernel> make_constant(const Graph& graph, const Node& node, Device&) {
  need_f32(node.name, graph.value(node.outputs[0]).type);
  const float value = static_cast<float>(node.attributes.real("value"));
  return make_own([value](const KernelArguments& arguments) {
    launch("constant", fill, dim3(1), 1, output<float>(arguments), value);
  });
}

std::unique_ptr<Kernel> make_spatial_dropout_scale(const Graph& graph, const Node& node, Device&) {
  need_f32(node.name, graph.value(node.outputs[0]).type);
  const std::int64_t count = output_shape(graph, node).count();
  const auto key = static_cast<std::uint32_t>(node.attributes.integer("key"));
  const double rate = node.attributes.real("rate");
  return make_own([=](const KernelArguments& arguments) {
    const Philox random(arguments.context->seed, static_cast<std::uint64_t>(arguments.context->step), key);
    launch("spatial_dropout_scale", dropout_scale, blocks_for(count), block_threads, output<float>(arguments),
           count, random, rate);
  });
}

std::unique_ptr<Kernel> make_loss_value(const Graph& graph, const Node& node, Device&) {
  need_f32(node.name, graph.value(node.outputs[0]).type);
  return make_own([weights = loss_weights(graph, node)](const KernelArguments& arguments) {
    launch("loss_value", loss_value, dim3(1), 1, input<float>(arguments, 0), weights,
           output<float>(arguments));
  });
}

std::unique_ptr<Kernel> make_loss_value_gradient(const Graph& graph, const Node& node, Device&) {
  need_f32(node.name, graph.value(node.outputs[0]).type);
  return make_own([weights = loss_weights(graph, node)](const KernelArguments& arguments) {
    launch("loss_value_gradient", loss_value_gradient, blocks_for(weights.instances), block_threads,
           input<float>(arguments, 0), input<float>(arguments, 1), weights, output<float>(arguments));
  });
}

}  // namespace voxswap::net::cuda
