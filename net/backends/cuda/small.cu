// Operations on a few numbers. Their cost is the launch.
#include "base/philox.h"
#include "net/backends/cuda/kernels.h"
#include "net/backends/cuda/launch.cuh"
#include "net/graph/loss_terms.h"

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

// The weights of loss_value, as an argument of a kernel.
struct Weights {
  double dice, cross_entropy, epsilon, count;
  int samples, channels, kinds, first, counted_by;
  bool weighted;
  float of_channel[most_loss_weights];  // if weighted
  double of_dice;                       // sum over all channels included in Dice

  Weights(const Graph& graph, const Node& node);
  __device__ const float* sum(const float* sums, int sample, int channel) const {
    return sums + kinds * (sample * channels + channel);
  }
  __device__ double weight(int channel) const { return weighted ? of_channel[channel] : 1.0; }
  __device__ double dice_of(int channel) const {
    return channel < first ? 0.0 : dice * weight(channel) / (samples * of_dice);
  }
  __device__ double counted(const float* sums, int sample) const {
    if (counted_by == 0) return count;
    double all = 0;
    for (int c = 0; c < channels; ++c) all += weight(c) * sum(sums, sample, c)[counted_by];
    return all;
  }
  __device__ double entropy_of(int channel, double counted) const {
    return counted == 0 ? 0.0 : cross_entropy * weight(channel) / (samples * counted);
  }
};

Weights::Weights(const Graph& graph, const Node& node) {
  const Shape& sums = input_shape(graph, node);
  const LossWeights weights(node.attributes, sums[1]);
  dice = weights.dice;
  cross_entropy = weights.cross_entropy;
  epsilon = weights.epsilon;
  samples = static_cast<int>(sums[0]);
  channels = static_cast<int>(sums[1]);
  kinds = static_cast<int>(sums[2]);
  first = static_cast<int>(weights.first);
  counted_by = weights.counted_by;
  weighted = node.attributes.values().contains("weight.0");
  double all = 0;
  of_dice = 0;
  for (int c = 0; c < channels; ++c) {
    const double weight = weights.of(c);
    if (weighted) of_channel[c] = static_cast<float>(weight);
    all += weight;
    if (c >= first) of_dice += weight;
  }
  count = weights.count * all / channels;
}

__global__ void loss_value(const float* sums, Weights weights, float* loss) {
  double all = 0;
  for (int n = 0; n < weights.samples; ++n) {
    const double counted = weights.counted(sums, n);
    for (int c = 0; c < weights.channels; ++c) {
      const float* sum = weights.sum(sums, n, c);
      const double denominator = static_cast<double>(sum[1]) + sum[2] + weights.epsilon;
      all += weights.entropy_of(c, counted) * sum[3] -
             weights.dice_of(c) * (2.0 * sum[0] + weights.epsilon) / denominator;
    }
  }
  *loss = static_cast<float>(all);
}

__global__ void loss_value_gradient(const float* sums, const float* dloss, Weights weights, float* gradient) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= weights.samples * weights.channels) return;
  const int n = i / weights.channels, c = i % weights.channels;
  const float* sum = weights.sum(sums, n, c);
  float* to = gradient + weights.kinds * i;
  const double denominator = static_cast<double>(sum[1]) + sum[2] + weights.epsilon;
  const double dice = *dloss * weights.dice_of(c);
  for (int kind = 0; kind < weights.kinds; ++kind) to[kind] = 0;
  to[0] = static_cast<float>(-2 * dice / denominator);
  to[2] = static_cast<float>(dice * (2.0 * sum[0] + weights.epsilon) / (denominator * denominator));
  to[3] = static_cast<float>(*dloss * weights.entropy_of(c, weights.counted(sums, n)));
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
  return make_own([weights = Weights(graph, node)](const KernelArguments& arguments) {
    launch("loss_value", loss_value, dim3(1), 1, input<float>(arguments, 0), weights,
           output<float>(arguments));
  });
}

std::unique_ptr<Kernel> make_loss_value_gradient(const Graph& graph, const Node& node, Device&) {
  need_f32(node.name, graph.value(node.outputs[0]).type);
  return make_own([weights = Weights(graph, node)](const KernelArguments& arguments) {
    launch("loss_value_gradient", loss_value_gradient, blocks_for(weights.samples * weights.channels),
           block_threads, input<float>(arguments, 0), input<float>(arguments, 1), weights,
           output<float>(arguments));
  });
}

}  // namespace voxswap::net::cuda
