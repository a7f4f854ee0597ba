// Sums over the voxels of every sample and channel: norm statistics, the sums of the norm's backward pass,
// bias gradients.
#include <cmath>

#include "net/backends/onednn/element_types.h"
#include "net/backends/onednn/kernels.h"
#include "net/backends/onednn/norm_parameters.h"
#include "net/backends/onednn/passes.h"

namespace voxswap::net::onednn {

namespace {

template <class T>
struct ChannelSums {
  const T* x;

  template <class V>
  VOXSWAP_INLINE void rows(const Rows& at) const {
    for (std::int64_t first = 0; first < at.rows; first += summed_rows) {
      const std::int64_t last = first + summed_rows < at.rows ? first + summed_rows : at.rows;
      for (std::int64_t c = 0; c < at.wide; c += lanes<V>) {
        V sum{};
        for (std::int64_t row = first; row < last; ++row) sum += load<V>(x + at.offset + row * at.wide + c);
        add_to(at.sums + c, sum);
      }
    }
  }
};

// Sums of x - shift and of its square. The shift is near the mean, so the variance does not come out as a
// small difference of large numbers.
template <class T>
struct Moments {
  const T* x;
  const float* shift;

  template <class V>
  VOXSWAP_INLINE void rows(const Rows& at) const {
    for (std::int64_t first = 0; first < at.rows; first += summed_rows) {
      const std::int64_t last = first + summed_rows < at.rows ? first + summed_rows : at.rows;
      for (std::int64_t c = 0; c < at.wide; c += lanes<V>) {
        const V center = load<V>(shift + at.parameters + c);
        V sum{}, squares{};
        for (std::int64_t row = first; row < last; ++row) {
          const V difference = load<V>(x + at.offset + row * at.wide + c) - center;
          sum += difference;
          squares += difference * difference;
        }
        add_to(at.sums + c, sum);
        add_to(at.sums + at.stride + c, squares);
      }
    }
  }
};

// The mean of a few voxels spread over the sample, for every lane.
template <class T>
void rough_means(float* to, const T* x, const RowLayout& layout) {
  const std::int64_t count = std::min<std::int64_t>(layout.voxels, 16);
  for (std::int64_t sample = 0; sample < layout.samples; ++sample, to += layout.wide) {
    std::fill_n(to, layout.channels, 0.0f);
    for (std::int64_t i = 0; i < count; ++i) {
      const T* voxel = x + (sample * layout.voxels + i * layout.voxels / count) * layout.channels;
      for (std::int64_t c = 0; c < layout.channels; ++c) to[c] += load<float>(voxel + c);
    }
    for (std::int64_t c = 0; c < layout.channels; ++c) to[c] /= static_cast<float>(count);
    for (std::int64_t lane = layout.channels; lane < layout.wide; ++lane)
      to[lane] = to[lane - layout.channels];
  }
}

// Sums of dz and of dz (x - mean).
template <class T>
struct GradientSums {
  const T *x, *dy;
  NormArrays norm;

  template <class V>
  VOXSWAP_INLINE void rows(const Rows& at) const {
    const V slope = all_lanes<V>(norm.slope);
    for (std::int64_t first = 0; first < at.rows; first += summed_rows) {
      const std::int64_t last = first + summed_rows < at.rows ? first + summed_rows : at.rows;
      for (std::int64_t c = 0; c < at.wide; c += lanes<V>) {
        const std::int64_t p = at.parameters + c;
        const V mean = load<V>(norm.mean + p), factor = load<V>(norm.factor + p);
        const V beta = load<V>(norm.beta + p), scale = load<V>(norm.scale + p), low = scale * slope;
        V sum{}, products{};
        for (std::int64_t row = first; row < last; ++row) {
          const std::int64_t i = at.offset + row * at.wide + c;
          const V difference = load<V>(x + i) - mean;
          const V z = difference * factor + beta;
          const V dz = load<V>(dy + i) * (z > 0.0f ? scale : low);
          sum += dz;
          products += dz * difference;
        }
        add_to(at.sums + c, sum);
        add_to(at.sums + at.stride + c, products);
      }
    }
  }
};

}  // namespace

std::unique_ptr<Kernel> make_channel_sum(const Graph& graph, const Node& node) {
  const RowLayout layout = row_layout(input_shape(graph, node));
  return for_type(input_type(graph, node), node, [&]<class T>(T) {
    return make_pass(
        [layout](const KernelArguments& arguments) {
          float* sums = output<float>(arguments);
          sum_over_voxels<1>(layout, ChannelSums<T>{input<T>(arguments, 0)}, place<double>(arguments, 0),
                             [&](std::int64_t sample, std::int64_t channel, const double* sum) {
                               const double before = sample == 0 ? 0.0 : static_cast<double>(sums[channel]);
                               sums[channel] = static_cast<float>(before + sum[0]);
                             });
        },
        sums_bytes(layout, 1));
  });
}

std::unique_ptr<Kernel> make_instance_norm_statistics(const Graph& graph, const Node& node) {
  const RowLayout layout = row_layout(input_shape(graph, node));
  const double epsilon = node.attributes.real("epsilon");
  WorkspacePlan plan;
  const std::int64_t sums = plan.book(sums_bytes(layout, 2)), shift = plan.book(expanded_bytes(layout));
  return for_type(input_type(graph, node), node, [&]<class T>(T) {
    return make_pass(
        [=](const KernelArguments& arguments) {
          const T* x = input<T>(arguments, 0);
          float *center = place<float>(arguments, shift), *statistics = output<float>(arguments);
          rough_means(center, x, layout);
          sum_over_voxels<2>(
              layout, Moments<T>{x, center}, place<double>(arguments, sums),
              [&](std::int64_t sample, std::int64_t channel, const double* found) {
                const double offset = found[0] / static_cast<double>(layout.voxels);
                const double variance = found[1] / static_cast<double>(layout.voxels) - offset * offset;
                float* pair = statistics + 2 * (sample * layout.channels + channel);
                pair[0] =
                    static_cast<float>(static_cast<double>(center[sample * layout.wide + channel]) + offset);
                pair[1] = static_cast<float>(1 / std::sqrt(std::max(variance, 0.0) + epsilon));
              });
        },
        plan.bytes());
  });
}

std::unique_ptr<Kernel> make_norm_activation_sums(const Graph& graph, const Node& node) {
  const RowLayout layout = row_layout(input_shape(graph, node));
  WorkspacePlan plan;
  const std::int64_t sums = plan.book(sums_bytes(layout, 2));
  const NormPlaces places(layout, node, 5, plan);
  return for_type(input_type(graph, node), node, [&]<class T>(T) {
    return make_pass(
        [=](const KernelArguments& arguments) {
          const NormArrays norm = places.fill(arguments);
          const float* statistics = input<float>(arguments, 1);
          float* result = output<float>(arguments);
          sum_over_voxels<2>(layout, GradientSums<T>{input<T>(arguments, 0), input<T>(arguments, 4), norm},
                             place<double>(arguments, sums),
                             [&](std::int64_t sample, std::int64_t channel, const double* found) {
                               const std::int64_t i = sample * layout.channels + channel;
                               result[2 * i] = static_cast<float>(found[0]);
                               result[2 * i + 1] =
                                   static_cast<float>(found[1] * static_cast<double>(statistics[2 * i + 1]));
                             });
        },
        plan.bytes());
  });
}

}  // namespace voxswap::net::onednn
