// Instance norm, leaky ReLU, dropout scale and residual in one pass, and the gradient of all of them in
// another.
#include "net/backends/onednn/element_types.h"
#include "net/backends/onednn/kernels.h"
#include "net/backends/onednn/norm_parameters.h"
#include "net/backends/onednn/passes.h"

namespace voxswap::net::onednn {

namespace {

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
          V result = (z > 0.0f ? z : z * slope) * scale;
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
          const V dz = load<V>(dy + i) * (z > 0.0f ? scale : low);
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
    // Sixteen numbers of f32 are a line; passes over bf16 are not bound by memory.
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

}  // namespace voxswap::net::onednn
