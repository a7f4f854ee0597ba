// Soft-max over the channels of a voxel, and the losses of exclusive classes. The units of work are blocks of
// voxels.
#include <algorithm>
#include <cmath>
#include <vector>

#include "net/backends/onednn/kernels.h"
#include "net/backends/onednn/passes.h"
#include "net/graph/graph.h"
#include "net/graph/loss_terms.h"

namespace voxswap::net::onednn {

namespace {

// Voxels that are computed at the same time, one per lane.
struct Group {
  std::int64_t first, count;
  const float* p;                              // of channel c in a lane: p[lane_count * c + lane]
  float largest[lane_count], sum[lane_count];  // of logits, and of exp(logit - largest)

  float probability(std::int64_t c, std::int64_t lane) const { return p[lane_count * c + lane]; }
};

template <class Floats, class T>
VOXSWAP_INLINE Group group_at(const T* logits, std::int64_t channels, std::int64_t first, std::int64_t count,
                              float* p) {
  // A channel of all voxels; the last voxel fills other lanes.
  const auto logit = [&](std::int64_t c) __attribute__((always_inline)) {
    return gathered<Floats>([&](std::int64_t lane) __attribute__((always_inline)) {
      return load<float>(logits + (first + (lane < count ? lane : count - 1)) * channels + c);
    });
  };
  Floats largest = logit(0), sum{};
  store(p, largest);
  for (std::int64_t c = 1; c < channels; ++c) {
    const Floats value = logit(c);
    store(p + lane_count * c, value);
    largest = choose(value > largest, value, largest);
  }
  for (std::int64_t c = 0; c < channels; ++c) {
    const Floats exponential = exp_of_negative<Floats>(load<Floats>(p + lane_count * c) - largest);
    store(p + lane_count * c, exponential);
    sum += exponential;
  }
  for (std::int64_t c = 0; c < channels; ++c)
    store(p + lane_count * c, Floats(load<Floats>(p + lane_count * c) / sum));
  Group group{first, count, p, {}, {}};
  store(group.largest, largest);
  store(group.sum, sum);
  return group;
}

// Calls take(group) for the voxels of [begin, end).
template <class Floats, class T, class Take>
VOXSWAP_INLINE void for_each_group(const T* logits, std::int64_t channels, std::int64_t begin,
                                   std::int64_t end, const Take& take) {
  std::vector<float> p(static_cast<std::size_t>(lane_count * channels));
  std::int64_t first = begin;
  for (; first + lane_count <= end; first += lane_count)
    take(group_at<Floats>(logits, channels, first, lane_count, p.data()));
  if (first < end) take(group_at<Floats>(logits, channels, first, end - first, p.data()));
}

// Voxels per block, the unit of work: some thousand exponentials.
inline std::int64_t block_of(std::int64_t channels) {
  return std::max<std::int64_t>(1, 8192 / channels);
}
inline std::int64_t whole_groups(std::int64_t voxels) {
  return (voxels + lane_count - 1) / lane_count * lane_count;
}

template <class T>
struct Softmax {
  const T* x;
  T* y;
  std::int64_t channels;
  template <class Floats>
  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    for_each_group<Floats>(
        x, channels, begin, end, [&](const Group& group) __attribute__((always_inline)) {
          for (std::int64_t c = 0; c < channels; ++c)
            for (std::int64_t lane = 0; lane < group.count; ++lane)
              store(y + (group.first + lane) * channels + c, group.probability(c, lane));
        });
  }
};

}  // namespace

std::unique_ptr<Kernel> make_softmax(const Graph& graph, const Node& node) {
  const Shape& x = input_shape(graph, node);
  const std::int64_t channels = x[4], voxels = x.count() / channels;
  return for_type(input_type(graph, node), node, [&]<class T>(T) {
    return make_pass([=](const KernelArguments& arguments) {
      parallel(voxels, whole_groups(block_of(channels)),
               Softmax<T>{input<T>(arguments, 0), output<T>(arguments), channels});
    });
  });
}

// Sums of soft Dice and cross entropy of mutually exclusive classes, and their gradient (formulas:
// net/ops/softmax.cpp). Planes are split into blocks that depend only on the shape, and blocks are
// summed in order, in double. So results do not depend on threads or slabs.

namespace {

constexpr std::int64_t kinds = 4;
constexpr std::int64_t most_blocks = 16;  // per plane: with many channels, sums are large

// The class of every voxel, in one byte or in two (little-endian).
struct Classes {
  const std::uint8_t* target;
  bool wide;

  VOXSWAP_INLINE std::int64_t of(std::int64_t voxel) const {
    return wide ? target[2 * voxel] | target[2 * voxel + 1] << 8 : target[voxel];
  }
};
Classes classes_of(const KernelArguments& arguments, bool wide) {
  return {input<std::uint8_t>(arguments, 1), wide};
}
bool are_wide(const Graph& graph, const Node& node) {
  return graph.value(node.inputs[1]).shape.rank() == 5;
}

struct Planes {
  std::int64_t samples, depth, voxels, channels;  // voxels of a plane
  std::int64_t block, blocks;                     // voxels of a block, blocks of a plane

  explicit Planes(const Shape& x) : samples(x[0]), depth(x[1]), voxels(x[2] * x[3]), channels(x[4]) {
    block = std::max(block_of(channels), (voxels + most_blocks - 1) / most_blocks);
    blocks = (voxels + block - 1) / block;
  }
  std::int64_t sums() const { return kinds * channels; }  // of a block, a plane or a sample
  std::int64_t count() const { return samples * depth; }
  std::int64_t bytes(std::int64_t each) const {
    return count() * each * sums() * static_cast<std::int64_t>(sizeof(double));
  }
};

// Cross entropy with terms (net/graph/loss_terms.h), of one class of a voxel.
struct Terms {
  bool plain;
  float of_target, of_others, focus;  // desired probability of the target, and of the others

  Terms(const LossTerms& terms, std::int64_t channels)
      : plain(terms.smoothing == 0 && terms.focus == 0),
        of_others(static_cast<float>(terms.smoothing / static_cast<double>(channels))),
        focus(static_cast<float>(terms.focus)) {
    of_target = static_cast<float>(1 - terms.smoothing) + of_others;
  }
  float wanted(bool is_target) const { return is_target ? of_target : of_others; }
  float power(float p) const { return focus == 0 ? 1.0f : std::pow(std::max(1.0f - p, 0.0f), focus); }
  double entropy(bool is_target, float p, double minus_log) const {
    return static_cast<double>(wanted(is_target)) * static_cast<double>(power(p)) * minus_log;
  }
  // Gradient with respect to log p. -log p / (1 - p) is computed by its series if p is almost 1.
  float gradient(bool is_target, float p, float minus_log) const {
    const float complement = 1.0f - p;
    const float ratio =
        complement > 1e-3f ? minus_log / complement : 1.0f + complement * (0.5f + complement / 3.0f);
    return -wanted(is_target) * power(p) * (1.0f + focus * p * ratio);
  }
};

template <class T>
struct BlockSums {
  Planes planes;
  Terms terms;
  const T* logits;
  Classes target;
  double* sums;  // [planes][blocks][C][4]

  template <class Floats>
  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    const std::int64_t channels = planes.channels;
    for (std::int64_t index = begin; index < end; ++index) {
      const std::int64_t plane = index / planes.blocks * planes.voxels;
      const std::int64_t first = index % planes.blocks * planes.block;
      const std::int64_t last = std::min(planes.voxels, first + planes.block);
      double* to = sums + index * planes.sums();
      std::fill_n(to, planes.sums(), 0.0);
      for_each_group<Floats>(
          logits, channels, plane + first,
          plane + last, [&](const Group& group) __attribute__((always_inline)) {
            for (std::int64_t lane = 0; lane < group.count; ++lane) add(group, lane, to);
          });
    }
  }

  VOXSWAP_INLINE void add(const Group& group, std::int64_t lane, double* to) const {
    const std::int64_t channels = planes.channels, voxel = group.first + lane, of = target.of(voxel);
    if (of >= channels) return;
    const T* x = logits + voxel * channels;
    for (std::int64_t c = 0; c < channels; ++c)
      to[kinds * c + 2] += static_cast<double>(group.probability(c, lane));
    double* own = to + kinds * of;
    own[0] += static_cast<double>(group.probability(of, lane));
    own[1] += 1;
    const float largest = group.largest[lane];
    const double log_sum = std::log(static_cast<double>(group.sum[lane]));
    if (terms.plain) {
      own[3] += static_cast<double>(largest - load<float>(x + of)) + log_sum;
      return;
    }
    for (std::int64_t c = 0; c < channels; ++c)
      to[kinds * c + 3] += terms.entropy(c == of, group.probability(c, lane),
                                         static_cast<double>(largest - load<float>(x + c)) + log_sum);
  }
};

// to[planes][C][4]
template <class T>
void sum_planes(const Planes& planes, const Terms& terms, bool wide, const KernelArguments& arguments,
                double* blocks, double* to) {
  parallel(planes.count() * planes.blocks, 1,
           BlockSums<T>{planes, terms, input<T>(arguments, 0), classes_of(arguments, wide), blocks});
  for (std::int64_t plane = 0; plane < planes.count(); ++plane)
    for (std::int64_t i = 0; i < planes.sums(); ++i) {
      double sum = 0;
      for (std::int64_t b = 0; b < planes.blocks; ++b)
        sum += blocks[(plane * planes.blocks + b) * planes.sums() + i];
      to[plane * planes.sums() + i] = sum;
    }
}

template <class T>
struct SumsGradient {
  const T* logits;
  Classes target;
  const float* dsums;
  T* dlogits;
  Terms terms;
  std::int64_t channels, of_sample;  // voxels of a sample

  template <class Floats>
  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    for_each_group<Floats>(
        logits, channels, begin, end, [&](const Group& group) __attribute__((always_inline)) {
          for (std::int64_t lane = 0; lane < group.count; ++lane) write(group, lane);
        });
  }

  VOXSWAP_INLINE void write(const Group& group, std::int64_t lane) const {
    const std::int64_t voxel = group.first + lane, of = target.of(voxel);
    T* to = dlogits + voxel * channels;
    if (of >= channels) {
      for (std::int64_t c = 0; c < channels; ++c) store(to + c, 0.0f);
      return;
    }
    const float* d = dsums + voxel / of_sample * channels * kinds;
    float mean = group.probability(of, lane) * d[kinds * of];
    for (std::int64_t c = 0; c < channels; ++c) mean += group.probability(c, lane) * d[kinds * c + 2];
    if (!terms.plain) return write_with_terms(group, lane, of, d, mean, to);
    for (std::int64_t c = 0; c < channels; ++c) {
      const float q = group.probability(c, lane), t = c == of ? 1.0f : 0.0f;
      store(to + c, q * (t * d[kinds * c] + d[kinds * c + 2] - mean) + d[kinds * of + 3] * (q - t));
    }
  }

  VOXSWAP_INLINE void write_with_terms(const Group& group, std::int64_t lane, std::int64_t of, const float* d,
                                       float mean, T* to) const {
    const T* x = logits + (group.first + lane) * channels;
    const float log_sum = group.largest[lane] + std::log(group.sum[lane]);
    const auto flow = [&](std::int64_t c) {
      return d[kinds * c + 3] *
             terms.gradient(c == of, group.probability(c, lane), log_sum - load<float>(x + c));
    };
    float all = 0;
    for (std::int64_t c = 0; c < channels; ++c) all += flow(c);
    for (std::int64_t c = 0; c < channels; ++c) {
      const float q = group.probability(c, lane), t = c == of ? 1.0f : 0.0f;
      const float entropy = flow(c) - q * all;  // read before its logit may be overwritten
      store(to + c, q * (t * d[kinds * c] + d[kinds * c + 2] - mean) + entropy);
    }
  }
};

}  // namespace

std::unique_ptr<Kernel> make_softmax_loss_sums(const Graph& graph, const Node& node) {
  const Planes planes(input_shape(graph, node));
  const Terms terms(LossTerms(node.attributes), planes.channels);
  const bool wide = are_wide(graph, node);
  WorkspacePlan plan;
  const std::int64_t blocks = plan.book(planes.bytes(planes.blocks)), whole = plan.book(planes.bytes(1));
  return for_type(input_type(graph, node), node, [&]<class T>(T) {
    return make_pass(
        [=](const KernelArguments& arguments) {
          double* found = place<double>(arguments, whole);
          sum_planes<T>(planes, terms, wide, arguments, place<double>(arguments, blocks), found);
          for (std::int64_t n = 0; n < planes.samples; ++n)
            for (std::int64_t i = 0; i < planes.sums(); ++i) {
              double sum = 0;
              for (std::int64_t z = 0; z < planes.depth; ++z)
                sum += found[(n * planes.depth + z) * planes.sums() + i];
              output<float>(arguments)[n * planes.sums() + i] = static_cast<float>(sum);
            }
        },
        plan.bytes());
  });
}

std::unique_ptr<Kernel> make_softmax_loss_plane_sums(const Graph& graph, const Node& node) {
  const Planes planes(input_shape(graph, node));
  const Terms terms(LossTerms(node.attributes), planes.channels);
  const bool wide = are_wide(graph, node);
  return for_type(input_type(graph, node), node, [&]<class T>(T) {
    return make_pass(
        [=](const KernelArguments& arguments) {
          sum_planes<T>(planes, terms, wide, arguments, place<double>(arguments, 0),
                        output<double>(arguments));
        },
        planes.bytes(planes.blocks));
  });
}

std::unique_ptr<Kernel> make_softmax_loss_sums_gradient(const Graph& graph, const Node& node) {
  const Shape& x = input_shape(graph, node);
  const std::int64_t channels = x[4], voxels = x.count() / channels, of_sample = voxels / x[0];
  const Terms terms(LossTerms(node.attributes), channels);
  const bool wide = are_wide(graph, node);
  return for_type(input_type(graph, node), node, [&]<class T>(T) {
    return make_pass([=](const KernelArguments& arguments) {
      parallel(voxels, whole_groups(block_of(channels)),
               SumsGradient<T>{input<T>(arguments, 0), classes_of(arguments, wide),
                               input<float>(arguments, 2), output<T>(arguments), terms, channels, of_sample});
    });
  });
}

}  // namespace voxswap::net::onednn
