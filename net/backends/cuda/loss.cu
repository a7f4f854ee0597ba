// The losses' sums over the volume, and the gradient with respect to the logits.
#include "net/backends/cuda/own_kernels.h"
#include "net/backends/cuda/sums.cuh"

namespace voxswap::net::cuda {

namespace {

using Bits = std::uint8_t;  // bit c % 8 of byte c / 8 of a voxel's target belongs to channel c

// What of the targets a lane meets: a bit of the byte `byte`, and then of every `step`-th after it.
template <int width>
struct TargetBits {
  std::int64_t byte[width], step;
  int channel[width];

  __device__ TargetBits(const Rows& rows, const Walk& walk) {
    const int bytes = (rows.channels + 7) / 8;  // of a voxel
    step = walk.step * width / rows.channels * bytes;
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.z) * rows.vectors + walk.first;
    for (int lane = 0; lane < width; ++lane) {
      channel[lane] = channel_of_lane<width>(rows, lane);
      byte[lane] = (first * width + lane) / rows.channels * bytes + channel[lane] / 8;
    }
  }
  __device__ float target(const Bits* bits, int lane) const {
    return static_cast<float>(bits[byte[lane]] >> channel[lane] % 8 & 1);
  }
  __device__ void next() {
    for (int lane = 0; lane < width; ++lane) byte[lane] += step;
  }
};

// 1 / (1 + exp(-x)) without overflow, and the logarithm of 1 + exp(-|x|) beside it.
__device__ inline float probability(float x) {
  const float e = expf(-fabsf(x));
  return (x >= 0 ? 1.0f : e) / (1.0f + e);
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
  double doubles[4][width];
  for (int kind = 0; kind < 4; ++kind) {
    for (int lane = 0; lane < width; ++lane) doubles[kind][lane] = sums[kind][lane];
  }
  write_sums_of_block<width, 4>(rows, doubles, written);
}

struct TakePlaneLossSums {
  double* sums;
  int channels;
  __device__ void operator()(std::int64_t plane, int channel, const double (&found)[4]) const {
    for (int kind = 0; kind < 4; ++kind) sums[4 * (plane * channels + channel) + kind] = found[kind];
  }
};

struct TakeLossSums {
  float* sums;
  int channels;
  __device__ void operator()(std::int64_t sample, int channel, const double (&found)[4]) const {
    for (int kind = 0; kind < 4; ++kind) {
      sums[4 * (sample * channels + channel) + kind] = static_cast<float>(found[kind]);
    }
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

}  // namespace

std::unique_ptr<Kernel> make_loss_sums(const Graph& graph, const Node& node, Device& device) {
  return for_type(input_type(graph, node), node.name, [&]<class T>(T) {
    const Rows rows = cut_rows(device, input_shape(graph, node), full_width<T>, rows_of_a_sum);
    return make_own(
        rows,
        [rows](const KernelArguments& arguments) {
          double* written = place<double>(arguments, 0);
          for_width<T>(rows, [&]<int width>() {
            launch("loss_sums", loss_sums_of_blocks<width, T>, blocks_of(rows), rows.threads(), rows,
                   input<T>(arguments, 0), input<Bits>(arguments, 1), written);
          });
          launch_finish<4>("loss_sums, finish", rows, written,
                           TakeLossSums{output<float>(arguments), rows.channels});
        },
        sums_bytes(rows, 4));
  });
}

std::unique_ptr<Kernel> make_loss_plane_sums(const Graph& graph, const Node& node, Device& device) {
  return for_type(input_type(graph, node), node.name, [&]<class T>(T) {
    const Rows rows = cut_planes(device, input_shape(graph, node), full_width<T>, rows_of_a_sum);
    return make_own(
        rows,
        [rows](const KernelArguments& arguments) {
          double* written = place<double>(arguments, 0);
          for_width<T>(rows, [&]<int width>() {
            launch("loss_plane_sums", loss_sums_of_blocks<width, T>, blocks_of(rows), rows.threads(), rows,
                   input<T>(arguments, 0), input<Bits>(arguments, 1), written);
          });
          launch_finish<4>("loss_plane_sums, finish", rows, written,
                           TakePlaneLossSums{output<double>(arguments), rows.channels});
        },
        sums_bytes(rows, 4));
  });
}

std::unique_ptr<Kernel> make_loss_sums_gradient(const Graph& graph, const Node& node, Device& device) {
  return for_type(input_type(graph, node), node.name, [&]<class T>(T) {
    const Rows rows = cut_rows(device, input_shape(graph, node), full_width<T>, rows_of_a_map);
    return make_own(rows, [rows](const KernelArguments& arguments) {
      for_width<T>(rows, [&]<int width>() {
        launch("loss_sums_gradient", loss_gradient<width, T>, blocks_of(rows), rows.threads(), rows,
               input<T>(arguments, 0), input<Bits>(arguments, 1), input<float>(arguments, 2),
               output<T>(arguments));
      });
    });
  });
}

}  // namespace voxswap::net::cuda
