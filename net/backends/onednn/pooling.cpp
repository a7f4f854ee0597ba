// Pooling: the maximum of blocks, the maximum under a sliding kernel, and the average.
#include "net/backends/onednn/blocks.h"
#include "net/backends/onednn/kernels.h"
#include "net/backends/onednn/passes.h"
#include "net/backends/pool_axis.h"
#include "net/graph/axes.h"
#include "net/graph/graph.h"

namespace voxswap::net::onednn {

// The maximum of blocks of 2x2x2.

namespace {

template <class T>
struct MaxPool {
  const T* x;
  T* y;
  template <class V>
  VOXSWAP_INLINE void channels(std::int64_t coarse, std::int64_t fine, const Blocks& b) const {
    V most = load<V>(x + fine);
    for (int i = 1; i < 8; ++i) {
      const V next = load<V>(x + fine + b.corner[i]);
      most = choose(next > most, next, most);
    }
    store(y + coarse, most);
  }
};

template <class T>
struct MaxPoolGradient {
  const T *x, *dy;
  T* dx;
  template <class V>
  VOXSWAP_INLINE void channels(std::int64_t coarse, std::int64_t fine, const Blocks& b) const {
    V most = load<V>(x + fine), first{};  // the corner of the first maximum
    for (int i = 1; i < 8; ++i) {
      const V next = load<V>(x + fine + b.corner[i]), here = all_lanes<V>(static_cast<float>(i));
      first = choose(next > most, here, first);
      most = choose(next > most, next, most);
    }
    const V gradient = load<V>(dy + coarse);
    for (int i = 0; i < 8; ++i) {
      const V here = all_lanes<V>(static_cast<float>(i));
      store(dx + fine + b.corner[i], choose(first == here, gradient, V{}));
    }
  }
};

}  // namespace

std::unique_ptr<Kernel> make_max_pool(const Graph& graph, const Node& node) {
  return make_on_blocks<MaxPool, 0>(graph, node, output_shape(graph, node));
}
std::unique_ptr<Kernel> make_max_pool_gradient(const Graph& graph, const Node& node) {
  return make_on_blocks<MaxPoolGradient, 0, 1>(graph, node, input_shape(graph, node, 1));
}

// Sliding max pooling and its gradient. The units of work are rows of y and rows of x.

namespace {

struct Pool {
  PoolAxis z, y, x;
  std::int64_t channels;

  Pool(const Shape& in, const Shape& out, const KernelAxes& axes)
      : z(pool_axis(in, out, axes, 0)),
        y(pool_axis(in, out, axes, 1)),
        x(pool_axis(in, out, axes, 2)),
        channels(in[4]) {}
  // Index of the first channel at a position of x, and of y.
  VOXSWAP_INLINE std::int64_t in(std::int64_t n, std::int64_t iz, std::int64_t iy, std::int64_t ix) const {
    return (((n * z.input + iz) * y.input + iy) * x.input + ix) * channels;
  }
  VOXSWAP_INLINE std::int64_t out(std::int64_t n, std::int64_t oz, std::int64_t oy, std::int64_t ox) const {
    return (((n * z.output + oz) * y.output + oy) * x.output + ox) * channels;
  }
  // Number of the tap with which an output reads an input; small, so exact as a float.
  VOXSWAP_INLINE float tap(std::int64_t of_z, std::int64_t of_y, std::int64_t of_x) const {
    return static_cast<float>((of_z * y.kernel + of_y) * x.kernel + of_x);
  }
};

using Tap = std::uint8_t;
template <class V>
VOXSWAP_INLINE void store_taps(Tap* to, const V& taps) {
  float numbers[lanes<V>];
  store(numbers, taps);
  for (std::int64_t lane = 0; lane < lanes<V>; ++lane) to[lane] = static_cast<Tap>(numbers[lane]);
}
template <class V>
VOXSWAP_INLINE V load_taps(const Tap* from) {
  return gathered<V>([&](std::int64_t lane)
                         __attribute__((always_inline)) { return static_cast<float>(from[lane]); });
}

template <class T>
struct Forward {
  Pool pool;
  const T* x;
  T* y;
  Tap* taps;

  struct Place {
    const Forward& of;
    std::int64_t n, oz, oy, ox;
    template <class V>
    VOXSWAP_INLINE void at(std::int64_t c) const {
      const Pool& p = of.pool;
      const std::int64_t z = p.z.from(oz), y = p.y.from(oy), x = p.x.from(ox);
      V most = load<V>(of.x + p.in(n, z, y, x) + c);
      V first = all_lanes<V>(p.tap(p.z.tap(oz, z), p.y.tap(oy, y), p.x.tap(ox, x)));
      for (std::int64_t iz = z; iz < p.z.to(oz); ++iz)
        for (std::int64_t iy = y; iy < p.y.to(oy); ++iy)
          for (std::int64_t ix = x; ix < p.x.to(ox); ++ix) {
            const V next = load<V>(of.x + p.in(n, iz, iy, ix) + c);
            const V tap = all_lanes<V>(p.tap(p.z.tap(oz, iz), p.y.tap(oy, iy), p.x.tap(ox, ix)));
            first = choose(next > most, tap, first);
            most = choose(next > most, next, most);
          }
      const std::int64_t out = p.out(n, oz, oy, ox) + c;
      store(of.y + out, most);
      store_taps(of.taps + out, first);
    }
  };
  template <class Floats>
  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    const Forward own = *this;
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t oy = row % own.pool.y.output, plane = row / own.pool.y.output;
      for (std::int64_t ox = 0; ox < own.pool.x.output; ++ox)
        over_channels<Floats>(own.pool.channels,
                              Place{own, plane / own.pool.z.output, plane % own.pool.z.output, oy, ox});
    }
  }
};

// An element of x gets the gradients of all outputs whose recorded tap refers to it.
template <class T>
struct Backward {
  Pool pool;
  const T* dy;
  const Tap* taps;
  T* dx;

  struct Place {
    const Backward& of;
    std::int64_t n, iz, iy, ix;

    template <class V>
    VOXSWAP_INLINE void at(std::int64_t c) const {
      const Pool& p = of.pool;
      V sum{};
      for (std::int64_t oz = p.z.first_over(iz); oz < p.z.end_over(iz); ++oz)
        for (std::int64_t oy = p.y.first_over(iy); oy < p.y.end_over(iy); ++oy)
          for (std::int64_t ox = p.x.first_over(ix); ox < p.x.end_over(ix); ++ox) {
            const std::int64_t out = p.out(n, oz, oy, ox) + c;
            const float tap = p.tap(p.z.tap(oz, iz), p.y.tap(oy, iy), p.x.tap(ox, ix));
            sum += choose(load_taps<V>(of.taps + out) == tap, load<V>(of.dy + out), V{});
          }
      store(of.dx + p.in(n, iz, iy, ix) + c, sum);
    }
  };
  template <class Floats>
  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    const Backward own = *this;
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t iy = row % own.pool.y.input, plane = row / own.pool.y.input;
      for (std::int64_t ix = 0; ix < own.pool.x.input; ++ix)
        over_channels<Floats>(own.pool.channels,
                              Place{own, plane / own.pool.z.input, plane % own.pool.z.input, iy, ix});
    }
  }
};

}  // namespace

std::unique_ptr<Kernel> make_sliding_max_pool(const Graph& graph, const Node& node) {
  const Shape &x = input_shape(graph, node), &y = output_shape(graph, node);
  const Pool pool(x, y, kernel_axes(node.attributes));
  const std::int64_t rows = y[0] * y[1] * y[2];
  return for_type(input_type(graph, node), node, [&]<class T>(T) {
    return make_pass([=](const KernelArguments& arguments) {
      parallel(rows, 1,
               Forward<T>{pool, input<T>(arguments, 0), output<T>(arguments), output<Tap>(arguments, 1)});
    });
  });
}

std::unique_ptr<Kernel> make_sliding_max_pool_gradient(const Graph& graph, const Node& node) {
  const Shape &dx = output_shape(graph, node), &dy = input_shape(graph, node);
  const Pool pool(dx, dy, kernel_axes(node.attributes));
  const std::int64_t rows = dx[0] * dx[1] * dx[2];
  return for_type(input_type(graph, node), node, [&]<class T>(T) {
    return make_pass([=](const KernelArguments& arguments) {
      parallel(rows, 1,
               Backward<T>{pool, input<T>(arguments, 0), input<Tap>(arguments, 1), output<T>(arguments)});
    });
  });
}

// The average over the whole volume, and its gradient.

namespace {

// Fills every row with the lanes that `expand` made.
template <class T>
struct Fill {
  T* x;
  const float* values;
  template <class V>
  VOXSWAP_INLINE void rows(const Rows& at) const {
    for (std::int64_t c = 0; c < at.wide; c += lanes<V>) {
      const V value = load<V>(values + at.parameters + c);
      for (std::int64_t row = 0; row < at.rows; ++row) store(x + at.offset + row * at.wide + c, value);
    }
  }
};

float as_float(float x) {
  return x;
}
float as_float(Bf16 x) {
  return load<float>(&x);
}

}  // namespace

std::unique_ptr<Kernel> make_average_pool(const Graph& graph, const Node& node) {
  const RowLayout layout = plane_layout(input_shape(graph, node));
  WorkspacePlan plan;
  const std::int64_t scratch = plan.book(sums_bytes(layout, 1)),
                     sums = plan.book(plane_sums_bytes(layout, 1));
  const double over = node.attributes.real("voxels");
  return for_type(input_type(graph, node), node, [&]<class T>(T) {
    return make_pass(
        [=](const KernelArguments& arguments) {
          double* planes = place<double>(arguments, sums);
          sum_planes<1>(layout, ChannelSums<T>{input<T>(arguments, 0)}, place<double>(arguments, scratch),
                        planes, [](std::int64_t, std::int64_t, double*) {});
          for (std::int64_t i = 0; i < layout.samples / layout.sharing * layout.channels; ++i) {
            double sum = 0;
            for (std::int64_t z = 0; z < layout.sharing; ++z) sum += planes[plane_sum_index(layout, i, z)];
            store(output<T>(arguments) + i, static_cast<float>(sum / over));
          }
        },
        plan.bytes());
  });
}

std::unique_ptr<Kernel> make_average_pool_gradient(const Graph& graph, const Node& node) {
  const RowLayout layout = row_layout(output_shape(graph, node));
  const auto over = static_cast<float>(node.attributes.real("voxels"));
  return for_type(input_type(graph, node), node, [&]<class T>(T) {
    return make_pass(
        [=](const KernelArguments& arguments) {
          const T* dy = input<T>(arguments, 0);
          float* values = place<float>(arguments, 0);
          expand(values, layout, [&](std::int64_t n, std::int64_t c) {
            return as_float(dy[n * layout.channels + c]) / over;
          });
          for_each_chunk(layout, Fill<T>{output<T>(arguments), values});
        },
        expanded_bytes(layout));
  });
}

}  // namespace voxswap::net::onednn
