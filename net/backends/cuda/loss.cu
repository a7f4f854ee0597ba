// Sums of the losses over a volume, and the gradient with respect to the logits.
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
  float of_true, of_false, p, rest, true_power, false_power;

  __device__ Focused(float x, float focus) {
    const float log = log1pf(expf(-fabsf(x)));
    of_true = fmaxf(-x, 0.0f) + log;
    of_false = fmaxf(x, 0.0f) + log;
    p = probability(x);
    rest = probability(-x);
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
          const float entropy = (1 - soft) * x.true_power * (x.p + terms.focus * x.rest * x.of_false) -
                                soft * x.false_power * (x.rest + terms.focus * x.p * x.of_true);
          const float all = (d[lane][0] * t + d[lane][2]) * x.p * x.rest + d[lane][3] * entropy;
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

}  // namespace voxswap::net::cuda
