// Norms: statistics, then instance norm, leaky ReLU, dropout scale and residual in one pass, and the gradient
// of all of them in two more.
#include "net/backends/moments.h"
#include "net/backends/onednn/kernels.h"
#include "net/backends/onednn/passes.h"
#include "net/backends/onednn/plane_sums.h"

namespace voxswap::net::onednn {

namespace {

// Parameters of norm + activation, one per lane of a row.
//
// z = (x - mean) factor + beta with factor = gamma / deviation is written the same way in forward and
// backward passes, so that they agree on the sign of each z.
struct NormArrays {
  const float *mean, *factor, *beta, *scale;
  float slope;
};

// Offsets in a kernel's workspace. Inputs begin with x, statistics, gamma, beta in all three operations; the
// optional scale is input `scale_input`.
class NormPlaces {
 public:
  NormPlaces(const RowLayout& layout, const Node& node, std::size_t scale_input, WorkspacePlan& plan)
      : layout_(layout), scale_input_(scale_input), has_scale_(node.attributes.flag("has_scale")) {
    slope_ = static_cast<float>(node.attributes.real("slope"));
    start_ = plan.book(4 * expanded_bytes(layout));
  }

  NormArrays fill(const KernelArguments& arguments) const {
    const float *statistics = input<float>(arguments, 1), *gamma = input<float>(arguments, 2);
    const float* beta = input<float>(arguments, 3);
    const float* scale = has_scale_ ? input<float>(arguments, scale_input_) : nullptr;
    const std::int64_t size = layout_.samples * layout_.wide;
    float* at = place<float>(arguments, start_);
    const auto instance = [&](std::int64_t sample, std::int64_t c) { return sample * layout_.channels + c; };
    expand(at, layout_, [&](std::int64_t n, std::int64_t c) { return statistics[2 * instance(n, c)]; });
    expand(at + size, layout_,
           [&](std::int64_t n, std::int64_t c) { return gamma[c] * statistics[2 * instance(n, c) + 1]; });
    expand(at + 2 * size, layout_, [&](std::int64_t, std::int64_t c) { return beta[c]; });
    expand(at + 3 * size, layout_,
           [&](std::int64_t n, std::int64_t c) { return scale != nullptr ? scale[instance(n, c)] : 1.0f; });
    return {at, at + size, at + 2 * size, at + 3 * size, slope_};
  }

 private:
  RowLayout layout_;
  std::size_t scale_input_;
  bool has_scale_;
  float slope_;
  std::int64_t start_;
};

template <class T, bool has_residual, bool streams>
struct Forward {
  const T *x, *residual;
  T* y;
  NormArrays norm;

  template <class V>
  VOXSWAP_INLINE void rows(const Rows& at) const {
    const V slope = all_lanes<V>(norm.slope);
    for (std::int64_t first = 0; first < at.rows; first += rows_per_column) {
      const std::int64_t last = first + rows_per_column < at.rows ? first + rows_per_column : at.rows;
      for (std::int64_t c = 0; c < at.wide; c += lanes<V>) {
        const std::int64_t p = at.parameters + c;
        const V mean = load<V>(norm.mean + p), factor = load<V>(norm.factor + p);
        const V beta = load<V>(norm.beta + p), scale = load<V>(norm.scale + p);
        for (std::int64_t row = first; row < last; ++row) {
          const std::int64_t i = at.offset + row * at.wide + c;
          const V z = (load<V>(x + i) - mean) * factor + beta;
          V result = choose(z > 0.0f, z, V(z * slope)) * scale;
          if constexpr (has_residual) result += load<V>(residual + i);
          if constexpr (streams)
            stream(y + i, result);
          else
            store(y + i, result);
        }
      }
    }
    if constexpr (streams) finish_streams();
  }
};

// Calls for_each_chunk with or without a residual.
template <class T, bool streams>
void run_forward(const RowLayout& layout, const T* x, const T* residual, T* y, const NormArrays& norm) {
  if (residual != nullptr)
    for_each_chunk(layout, Forward<T, true, streams>{x, residual, y, norm});
  else
    for_each_chunk(layout, Forward<T, false, streams>{x, nullptr, y, norm});
}

// dx = factor (dz - mean(dz) - (x - mean) mean(dz xhat) / deviation)
template <class T>
struct Gradient {
  const T *x, *dy;
  T* dx;
  NormArrays norm;
  const float *mean_dz, *slope_of_x;

  template <class V>
  VOXSWAP_INLINE void rows(const Rows& at) const {
    const V slope = all_lanes<V>(norm.slope);
    for (std::int64_t first = 0; first < at.rows; first += rows_per_column) {
      const std::int64_t last = first + rows_per_column < at.rows ? first + rows_per_column : at.rows;
      for (std::int64_t c = 0; c < at.wide; c += lanes<V>) {
        const std::int64_t p = at.parameters + c;
        const V mean = load<V>(norm.mean + p), factor = load<V>(norm.factor + p);
        const V beta = load<V>(norm.beta + p), scale = load<V>(norm.scale + p), low = scale * slope;
        const V constant = load<V>(mean_dz + p), rate = load<V>(slope_of_x + p);
        for (std::int64_t row = first; row < last; ++row) {
          const std::int64_t i = at.offset + row * at.wide + c;
          const V difference = load<V>(x + i) - mean, z = difference * factor + beta;
          const V dz = load<V>(dy + i) * choose(z > 0.0f, scale, low);
          store(dx + i, V(factor * (dz - constant - difference * rate)));
        }
      }
    }
  }
};

}  // namespace

std::unique_ptr<Kernel> make_norm_activation(const Graph& graph, const Node& node) {
  const RowLayout layout = row_layout(input_shape(graph, node));
  const std::int64_t output_bytes = graph.value(node.outputs[0]).bytes();
  const bool has_residual = node.attributes.flag("has_residual");
  WorkspacePlan plan;
  const NormPlaces places(layout, node, 4, plan);
  return for_type(input_type(graph, node), node, [&]<class T>(T) {
    // sixteen f32 fill a cache line; passes over bf16 are not bound by memory
    constexpr bool in_lines = sizeof(T) == sizeof(float);
    const bool is_large = in_lines && output_bytes >= streamed_bytes;
    return make_pass(
        [=](const KernelArguments& arguments) {
          const NormArrays norm = places.fill(arguments);
          const T* x = input<T>(arguments, 0);
          T* y = output<T>(arguments);
          const T* residual = has_residual ? input<T>(arguments, arguments.inputs.size() - 1) : nullptr;
          if (is_large && y != x && y != residual)
            run_forward<T, in_lines>(layout, x, residual, y, norm);
          else
            run_forward<T, false>(layout, x, residual, y, norm);
        },
        plan.bytes());
  });
}

std::unique_ptr<Kernel> make_norm_activation_gradient(const Graph& graph, const Node& node) {
  const RowLayout layout = row_layout(input_shape(graph, node));
  const double voxels = node.attributes.real("voxels");
  WorkspacePlan plan;
  const NormPlaces places(layout, node, 6, plan);
  const std::int64_t first = plan.book(expanded_bytes(layout)), second = plan.book(expanded_bytes(layout));
  return for_type(input_type(graph, node), node, [&]<class T>(T) {
    return make_pass(
        [=](const KernelArguments& arguments) {
          const NormArrays norm = places.fill(arguments);
          const float *statistics = input<float>(arguments, 1), *sums = input<float>(arguments, 5);
          float *mean_dz = place<float>(arguments, first), *slope_of_x = place<float>(arguments, second);
          expand(mean_dz, layout, [&](std::int64_t n, std::int64_t c) {
            return static_cast<double>(sums[2 * (n * layout.channels + c)]) / voxels;
          });
          expand(slope_of_x, layout, [&](std::int64_t n, std::int64_t c) {
            const std::int64_t i = 2 * (n * layout.channels + c) + 1;
            return static_cast<double>(sums[i]) * static_cast<double>(statistics[i]) / voxels;
          });
          for_each_chunk(layout, Gradient<T>{input<T>(arguments, 0), input<T>(arguments, 4),
                                             output<T>(arguments), norm, mean_dz, slope_of_x});
        },
        plan.bytes());
  });
}

// Sums over the voxels of each sample and channel: norm statistics and the sums of the backward pass. They
// are computed per plane (plane_sums.h) and added up for operations on whole volumes.

namespace {

// Sums of x - shift and of its square. The shift is near the mean, so the variance is not a small difference
// of large numbers.
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

// The mean of a few voxels spread over the plane, for every lane.
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
          const V dz = load<V>(dy + i) * choose(z > 0.0f, scale, low);
          sum += dz;
          products += dz * difference;
        }
        add_to(at.sums + c, sum);
        add_to(at.sums + at.stride + c, products);
      }
    }
  }
};

// Mean and sum of squared differences of every plane.
template <class T>
void find_moments(const KernelArguments& arguments, const RowLayout& layout, const SumPlaces& places,
                  std::int64_t shift, double* to) {
  const T* x = input<T>(arguments, 0);
  auto* center = place<float>(arguments, shift);
  const auto voxels = static_cast<double>(layout.voxels);
  rough_means(center, x, layout);
  RowLayout centered = layout;
  centered.sharing = 1;  // every plane has its own shift
  sum_planes<2>(centered, Moments<T>{x, center}, place<double>(arguments, places.sums), to,
                [&](std::int64_t plane, std::int64_t channel, double* sums) {
                  const double offset = sums[0] / voxels;
                  sums[0] = static_cast<double>(center[plane * layout.wide + channel]) + offset;
                  sums[1] = std::max(sums[1] - offset * offset * voxels, 0.0);
                });
}

template <class T>
void sum_gradients(const KernelArguments& arguments, const RowLayout& layout, const SumPlaces& places,
                   const NormPlaces& parameters, double* to) {
  const NormArrays norm = parameters.fill(arguments);
  const float* statistics = input<float>(arguments, 1);
  const std::int64_t channels = layout.channels, depth = layout.sharing;
  sum_planes<2>(layout, GradientSums<T>{input<T>(arguments, 0), input<T>(arguments, 4), norm},
                place<double>(arguments, places.sums), to,
                [=](std::int64_t plane, std::int64_t channel, double* sums) {
                  sums[1] *= static_cast<double>(statistics[2 * (plane / depth * channels + channel) + 1]);
                });
}

void add_moments(const RowLayout& layout, double epsilon, const double* planes, float* statistics) {
  const auto voxels = static_cast<double>(layout.voxels);
  for (std::int64_t i = 0; i < layout.samples / layout.sharing * layout.channels; ++i) {
    net::Moments moments;
    for (std::int64_t z = 0; z < layout.sharing; ++z) {
      const double* plane = planes + 2 * plane_sum_index(layout, i, z);
      moments.add(plane[0], plane[1], voxels);
    }
    statistics[2 * i] = static_cast<float>(moments.mean);
    statistics[2 * i + 1] = static_cast<float>(moments.inverse_deviation(voxels, epsilon));
  }
}

// `epsilon`: not used for planes.
std::unique_ptr<Kernel> make_moments(const Graph& graph, const Node& node, Sums what, double epsilon) {
  const RowLayout layout = plane_layout(input_shape(graph, node));
  SumPlaces places(layout, 2);
  const std::int64_t shift = places.plan.book(expanded_bytes(layout));
  return make_sums(
      graph, node, places, what,
      [=]<class T>(T, const KernelArguments& arguments, double* planes) {
        find_moments<T>(arguments, layout, places, shift, planes);
      },
      [=](const double* planes, float* statistics) { add_moments(layout, epsilon, planes, statistics); });
}

std::unique_ptr<Kernel> make_gradient_sums(const Graph& graph, const Node& node, Sums what) {
  const RowLayout layout = plane_layout(input_shape(graph, node));
  SumPlaces places(layout, 2);
  const NormPlaces parameters(row_layout(input_shape(graph, node)), node, 5, places.plan);
  return make_sums(
      graph, node, places, what,
      [=]<class T>(T, const KernelArguments& arguments, double* planes) {
        sum_gradients<T>(arguments, layout, places, parameters, planes);
      },
      [=](const double* planes, float* sums) { add_planes(layout, 2, planes, sums); });
}

}  // namespace

std::unique_ptr<Kernel> make_instance_norm_statistics(const Graph& graph, const Node& node) {
  return make_moments(graph, node, Sums::of_samples, node.attributes.real("epsilon"));
}
std::unique_ptr<Kernel> make_plane_moments(const Graph& graph, const Node& node) {
  return make_moments(graph, node, Sums::of_planes, 0);
}

std::unique_ptr<Kernel> make_norm_activation_sums(const Graph& graph, const Node& node) {
  return make_gradient_sums(graph, node, Sums::of_samples);
}
std::unique_ptr<Kernel> make_norm_activation_plane_sums(const Graph& graph, const Node& node) {
  return make_gradient_sums(graph, node, Sums::of_planes);
}

}  // namespace voxswap::net::onednn
