// Operations on a handful of numbers: what they cost is their launch.
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

struct LossWeights {
  double dice, cross_entropy, epsilon, voxels;
};

LossWeights loss_weights(const Node& node) {
  const Attributes& a = node.attributes;
  return {a.real("dice"), a.real("cross_entropy"), a.real("epsilon"),
          static_cast<double>(a.integer_or("voxels", 0))};
}

__global__ void loss_value(const float* sums, int instances, LossWeights weights, float* loss) {
  double dice = 0, cross_entropy = 0;
  for (int i = 0; i < instances; ++i) {
    const float* sum = sums + 4 * i;
    dice += (2.0 * sum[0] + weights.epsilon) / (static_cast<double>(sum[1]) + sum[2] + weights.epsilon);
    cross_entropy += sum[3];
  }
  *loss = static_cast<float>((weights.cross_entropy * cross_entropy / weights.voxels - weights.dice * dice) /
                             instances);
}

__global__ void loss_value_gradient(const float* sums, const float* dloss, int instances, LossWeights weights,
                                    float* gradient) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= instances) return;
  const float* sum = sums + 4 * i;
  const double denominator = static_cast<double>(sum[1]) + sum[2] + weights.epsilon;
  const double dice = *dloss * weights.dice / instances;
  gradient[4 * i] = static_cast<float>(-2 * dice / denominator);
  gradient[4 * i + 1] = 0;
  gradient[4 * i + 2] =
      static_cast<float>(dice * (2.0 * sum[0] + weights.epsilon) / (denominator * denominator));
  gradient[4 * i + 3] = static_cast<float>(*dloss * weights.cross_entropy / (instances * weights.voxels));
}

__global__ void softmax_loss_value(const float* sums, int samples, int channels, LossWeights weights,
                                   float* loss) {
  double dice = 0, cross_entropy = 0;
  for (int n = 0; n < samples; ++n) {
    double entropy = 0, voxels = 0;
    for (int c = 0; c < channels; ++c) {
      const float* sum = sums + 4 * (n * channels + c);
      if (c > 0)
        dice += (2.0 * sum[0] + weights.epsilon) / (static_cast<double>(sum[1]) + sum[2] + weights.epsilon);
      voxels += sum[1];
      entropy += sum[3];
    }
    cross_entropy += entropy / fmax(1.0, voxels);
  }
  *loss = static_cast<float>(-weights.dice * dice / (static_cast<double>(samples) * (channels - 1)) +
                             weights.cross_entropy * cross_entropy / samples);
}

// A thread per sample and channel.
__global__ void softmax_loss_value_gradient(const float* sums, const float* dloss, int samples, int channels,
                                            LossWeights weights, float* gradient) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= samples * channels) return;
  double voxels = 0;
  for (int c = 0; c < channels; ++c) voxels += sums[4 * (i / channels * channels + c) + 1];
  const float* sum = sums + 4 * i;
  const double denominator = static_cast<double>(sum[1]) + sum[2] + weights.epsilon;
  const double of_sample = static_cast<double>(*dloss) / samples;
  const double dice = i % channels > 0 ? of_sample * weights.dice / (channels - 1) : 0.0;
  gradient[4 * i] = static_cast<float>(-dice * 2 / denominator);
  gradient[4 * i + 1] = 0;
  gradient[4 * i + 2] =
      static_cast<float>(dice * (2.0 * sum[0] + weights.epsilon) / (denominator * denominator));
  gradient[4 * i + 3] = static_cast<float>(of_sample * weights.cross_entropy / fmax(1.0, voxels));
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
  const int instances = static_cast<int>(input_shape(graph, node).count() / 4);
  return make_own([instances, weights = loss_weights(node)](const KernelArguments& arguments) {
    launch("loss_value", loss_value, dim3(1), 1, input<float>(arguments, 0), instances, weights,
           output<float>(arguments));
  });
}

std::unique_ptr<Kernel> make_loss_value_gradient(const Graph& graph, const Node& node, Device&) {
  need_f32(node.name, graph.value(node.outputs[0]).type);
  const int instances = static_cast<int>(input_shape(graph, node).count() / 4);
  return make_own([instances, weights = loss_weights(node)](const KernelArguments& arguments) {
    launch("loss_value_gradient", loss_value_gradient, blocks_for(instances), block_threads,
           input<float>(arguments, 0), input<float>(arguments, 1), instances, weights,
           output<float>(arguments));
  });
}

std::unique_ptr<Kernel> make_softmax_loss_value(const Graph& graph, const Node& node, Device&) {
  need_f32(node.name, graph.value(node.outputs[0]).type);
  const Shape& sums = input_shape(graph, node);
  const int samples = static_cast<int>(sums[0]), channels = static_cast<int>(sums[1]);
  return make_own([=, weights = loss_weights(node)](const KernelArguments& arguments) {
    launch("softmax_loss_value", softmax_loss_value, dim3(1), 1, input<float>(arguments, 0), samples,
           channels, weights, output<float>(arguments));
  });
}

std::unique_ptr<Kernel> make_softmax_loss_value_gradient(const Graph& graph, const Node& node, Device&) {
  need_f32(node.name, graph.value(node.outputs[0]).type);
  const Shape& sums = input_shape(graph, node);
  const int samples = static_cast<int>(sums[0]), channels = static_cast<int>(sums[1]);
  return make_own([=, weights = loss_weights(node)](const KernelArguments& arguments) {
    launch("softmax_loss_value_gradient", softmax_loss_value_gradient, blocks_for(samples * channels),
           block_threads, input<float>(arguments, 0), input<float>(arguments, 1), samples, channels, weights,
           output<float>(arguments));
  });
}

}  // namespace voxswap::net::cuda
