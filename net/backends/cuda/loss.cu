// Sums of the losses of labels over a volume, the gradient with respect to the logits, and the losses
// computed from sums.
#include "net/backends/cuda/kernels.h"
#include "net/backends/cuda/passes.cuh"
#include "net/graph/loss_terms.h"

namespace voxswap::net::cuda {

namespace {

using Bits = std::uint8_t;  // bit c % 8 of byte c / 8 of a voxel's target belongs to channel c

// The target bits of a lane: a bit of byte `byte`, and then of every `step`-th one after it.
template <int width>
struct TargetBits {
  std::int64_t byte[width], step;
  int channel[width];
  int to_unknown[width], unknown_mask[width];  // offset to the bit that excludes it, and its mask

  __device__ TargetBits(const Rows& rows, const Walk& walk, int unknown_bits = 0) {
    const int bytes = (rows.channels + unknown_bits + 7) / 8;  // per voxel
    step = walk.step * width / rows.channels * bytes;
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.z) * rows.vectors + walk.first;
    for (int lane = 0; lane < width; ++lane) {
      channel[lane] = channel_of_lane<width>(rows, lane);
      byte[lane] = (first * width + lane) / rows.channels * bytes + channel[lane] / 8;
      const int behind = rows.channels + (unknown_bits > 1 ? channel[lane] : 0);
      to_unknown[lane] = unknown_bits > 0 ? behind / 8 - channel[lane] / 8 : 0;
      unknown_mask[lane] = unknown_bits > 0 ? 1 << behind % 8 : 0;
    }
  }
  __device__ float target(const Bits* bits, int lane) const {
    return static_cast<float>(bits[byte[lane]] >> channel[lane] % 8 & 1);
  }
  __device__ bool known(const Bits* bits, int lane) const {
    return (bits[byte[lane] + to_unknown[lane]] & unknown_mask[lane]) == 0;
  }
  __device__ void next() {
    for (int lane = 0; lane < width; ++lane) byte[lane] += step;
  }
};

// 1 / (1 + exp(-x)) without overflow.
__device__ inline float probability(float x) {
  const float e = expf(-fabsf(x));
  return (x >= 0 ? 1.0f : e) / (1.0f + e);
}

// Terms of the cross entropy (net/graph/loss_terms.h).
struct Terms {
  float smoothing, focus;
  int unknown_bits;  // per voxel: none, one, or one per channel

  Terms(const LossTerms& terms, int channels)
      : smoothing(static_cast<float>(terms.smoothing)),
        focus(static_cast<float>(terms.focus)),
        unknown_bits(terms.unknown == Unknown::outputs  ? channels
                     : terms.unknown == Unknown::voxels ? 1
                                                        : 0) {}
  __device__ float soft(float t) const { return t * (1 - smoothing) + 0.5f * smoothing; }
};

// -log p and -log(1 - p) of a logit, p and 1 - p, and both to the power of the focus.
struct Focused {
  float of_true, of_false, p, complement, true_power, false_power;

  __device__ Focused(float x, float focus) {
    const float log = log1pf(expf(-fabsf(x)));
    of_true = fmaxf(-x, 0.0f) + log;
    of_false = fmaxf(x, 0.0f) + log;
    p = probability(x);
    complement = probability(-x);
    true_power = expf(-focus * of_true);
    false_power = expf(-focus * of_false);
  }
};

template <int width, int kinds>
__device__ void write_doubles(const Rows& rows, const float (&sums)[kinds][width], double* written) {
  double doubles[kinds][width];
  for (int kind = 0; kind < kinds; ++kind) {
    for (int lane = 0; lane < width; ++lane) doubles[kind][lane] = sums[kind][lane];
  }
  write_sums_of_block<width, kinds>(rows, doubles, written);
}

template <int width, class T>
__global__ void loss_sums_of_blocks(Rows rows, const T* logits, const Bits* bits, double* written) {
  const Walk walk = walk_of_thread(rows);
  TargetBits<width> targets(rows, walk);
  float sums[4][width] = {};
  go_down<1>(
      walk, [&](std::int64_t vector) { return load<width>(logits + sample_start(rows) * width, vector); },
      [&](std::int64_t, const Vector<T, width>& loaded) {
        for (int lane = 0; lane < width; ++lane) {
          const float x = to_float(loaded.lane[lane]), t = targets.target(bits, lane), p = probability(x);
          sums[0][lane] += t * p;
          sums[1][lane] += t;
          sums[2][lane] += p;
          sums[3][lane] += fmaxf(x, 0.0f) - x * t + log1pf(expf(-fabsf(x)));
        }
        targets.next();
      });
  write_doubles<width, 4>(rows, sums, written);
}

template <int width, class T>
__global__ void loss_sums_with_terms(Rows rows, Terms terms, const T* logits, const Bits* bits,
                                     double* written) {
  const Walk walk = walk_of_thread(rows);
  TargetBits<width> targets(rows, walk, terms.unknown_bits);
  float sums[5][width] = {};
  go_down<1>(
      walk, [&](std::int64_t vector) { return load<width>(logits + sample_start(rows) * width, vector); },
      [&](std::int64_t, const Vector<T, width>& loaded) {
        for (int lane = 0; lane < width; ++lane) {
          if (!targets.known(bits, lane)) continue;
          const float t = targets.target(bits, lane), soft = terms.soft(t);
          const Focused x(to_float(loaded.lane[lane]), terms.focus);
          sums[0][lane] += t * x.p;
          sums[1][lane] += t;
          sums[2][lane] += x.p;
          sums[3][lane] += soft * x.false_power * x.of_true + (1 - soft) * x.true_power * x.of_false;
          sums[4][lane] += 1;
        }
        targets.next();
      });
  write_doubles<width, 5>(rows, sums, written);
}

// An instance is a channel of a plane or of a sample.
template <int kinds, class To>
struct TakeLossSums {
  To* sums;
  int channels;
  __device__ void operator()(std::int64_t of, int channel, const double (&found)[kinds]) const {
    for (int kind = 0; kind < kinds; ++kind)
      sums[kinds * (of * channels + channel) + kind] = static_cast<To>(found[kind]);
  }
};

template <int width, class T>
__global__ void loss_gradient(Rows rows, const T* logits, const Bits* bits, const float* dsums, T* dlogits) {
  const Walk walk = walk_of_thread(rows);
  TargetBits<width> targets(rows, walk);
  float of_true[width], of_probability[width], of_entropy[width];
  for (int lane = 0; lane < width; ++lane) {
    const float* d =
        dsums + 4 * (static_cast<std::int64_t>(blockIdx.z) * rows.channels + targets.channel[lane]);
    of_true[lane] = d[0];
    of_probability[lane] = d[2];
    of_entropy[lane] = d[3];
  }
  const std::int64_t start = sample_start(rows) * width;
  go_down<1>(
      walk, [&](std::int64_t vector) { return load<width>(logits + start, vector); },
      [&](std::int64_t vector, const Vector<T, width>& loaded) {
        Vector<T, width> result;
        for (int lane = 0; lane < width; ++lane) {
          const float t = targets.target(bits, lane), p = probability(to_float(loaded.lane[lane]));
          set_rounded(result.lane[lane],
                      (of_true[lane] * t + of_probability[lane]) * p * (1 - p) + of_entropy[lane] * (p - t));
        }
        store(dlogits + start, vector, result);
        targets.next();
      });
}

template <int width, class T>
__global__ void loss_gradient_with_terms(Rows rows, Terms terms, const T* logits, const Bits* bits,
                                         const float* dsums, T* dlogits) {
  const Walk walk = walk_of_thread(rows);
  TargetBits<width> targets(rows, walk, terms.unknown_bits);
  const float* d[width];
  for (int lane = 0; lane < width; ++lane)
    d[lane] = dsums + 5 * (static_cast<std::int64_t>(blockIdx.z) * rows.channels + targets.channel[lane]);
  const std::int64_t start = sample_start(rows) * width;
  go_down<1>(
      walk, [&](std::int64_t vector) { return load<width>(logits + start, vector); },
      [&](std::int64_t vector, const Vector<T, width>& loaded) {
        Vector<T, width> result;
        for (int lane = 0; lane < width; ++lane) {
          const float t = targets.target(bits, lane), soft = terms.soft(t);
          const Focused x(to_float(loaded.lane[lane]), terms.focus);
          const float entropy = (1 - soft) * x.true_power * (x.p + terms.focus * x.complement * x.of_false) -
                                soft * x.false_power * (x.complement + terms.focus * x.p * x.of_true);
          const float all = (d[lane][0] * t + d[lane][2]) * x.p * x.complement + d[lane][3] * entropy;
          set_rounded(result.lane[lane], targets.known(bits, lane) ? all : 0.0f);
        }
        store(dlogits + start, vector, result);
        targets.next();
      });
}

// Sums per sample or per plane, depending on the partition of the rows.
template <class T, class To>
void find_sums(const char* name, const Rows& rows, const LossTerms& terms, const KernelArguments& arguments) {
  double* written = place<double>(arguments, 0);
  for_width<T>(rows, [&]<int width>() {
    if (terms.plain())
      launch(name, loss_sums_of_blocks<width, T>, blocks_of(rows), rows.threads(), rows,
             input<T>(arguments, 0), input<Bits>(arguments, 1), written);
    else
      launch(name, loss_sums_with_terms<width, T>, blocks_of(rows), rows.threads(), rows,
             Terms(terms, rows.channels), input<T>(arguments, 0), input<Bits>(arguments, 1), written);
  });
  if (terms.plain())
    launch_finish<4>(name, rows, written, TakeLossSums<4, To>{output<To>(arguments), rows.channels});
  else
    launch_finish<5>(name, rows, written, TakeLossSums<5, To>{output<To>(arguments), rows.channels});
}

}  // namespace

std::unique_ptr<Kernel> make_loss_sums(const Graph& graph, const Node& node, Device& device) {
  const LossTerms terms(node.attributes);
  return for_type(input_type(graph, node), node.name, [&]<class T>(T) {
    const Rows rows = cut_rows(device, input_shape(graph, node), full_width<T>, of_a_sum);
    return make_own(
        rows,
        [=](const KernelArguments& arguments) { find_sums<T, float>("loss_sums", rows, terms, arguments); },
        sums_bytes(rows, static_cast<int>(terms.kinds())));
  });
}

std::unique_ptr<Kernel> make_loss_plane_sums(const Graph& graph, const Node& node, Device& device) {
  const LossTerms terms(node.attributes);
  return for_type(input_type(graph, node), node.name, [&]<class T>(T) {
    const Rows rows = cut_planes(device, input_shape(graph, node), full_width<T>, of_a_sum);
    return make_own(
        rows,
        [=](const KernelArguments& arguments) {
          find_sums<T, double>("loss_plane_sums", rows, terms, arguments);
        },
        sums_bytes(rows, static_cast<int>(terms.kinds())));
  });
}

std::unique_ptr<Kernel> make_loss_sums_gradient(const Graph& graph, const Node& node, Device& device) {
  const LossTerms terms(node.attributes);
  return for_type(input_type(graph, node), node.name, [&]<class T>(T) {
    const Rows rows = cut_rows(device, input_shape(graph, node), full_width<T>, of_a_map);
    return make_own(rows, [=](const KernelArguments& arguments) {
      for_width<T>(rows, [&]<int width>() {
        if (terms.plain())
          launch("loss_sums_gradient", loss_gradient<width, T>, blocks_of(rows), rows.threads(), rows,
                 input<T>(arguments, 0), input<Bits>(arguments, 1), input<float>(arguments, 2),
                 output<T>(arguments));
        else
          launch("loss_sums_gradient", loss_gradient_with_terms<width, T>, blocks_of(rows), rows.threads(),
                 rows, Terms(terms, rows.channels), input<T>(arguments, 0), input<Bits>(arguments, 1),
                 input<float>(arguments, 2), output<T>(arguments));
      });
    });
  });
}

// The loss from the sums, and its gradient. One launch each, on a few numbers.

namespace {

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
