// Pooling: the maximum of blocks, the maximum under a sliding kernel, and the average.
#include "net/backends/cuda/blocks.cuh"
#include "net/backends/cuda/kernels.h"
#include "net/backends/cuda/launch.cuh"
#include "net/backends/cuda/passes.cuh"
#include "net/backends/pool_axis.h"
#include "net/graph/axes.h"

namespace voxswap::net::cuda {

// The maximum of blocks of 2x2x2.

namespace {

template <int width, class T, class Index>
__global__ void max_pool(Blocks<Index> blocks, const T* x, T* y) {
  const std::int64_t unit = index_of_thread();
  if (unit >= static_cast<std::int64_t>(blocks.units)) return;
  const Corners<width, T> below(blocks, x, blocks.first_below(static_cast<Index>(unit)));
  Vector<T, width> result;
#pragma unroll
  for (int lane = 0; lane < width; ++lane) {
    T largest = below.corner[0].lane[lane];
    for (int i = 1; i < 8; ++i) {
      const T value = below.corner[i].lane[lane];
      if (to_float(value) > to_float(largest)) largest = value;
    }
    result.lane[lane] = largest;
  }
  store(y, unit, result);
}

template <int width, class T, class Index>
__global__ void max_pool_gradient(Blocks<Index> blocks, const T* x, const T* dy, T* dx) {
  const std::int64_t unit = index_of_thread();
  if (unit >= static_cast<std::int64_t>(blocks.units)) return;
  const std::int64_t first = blocks.first_below(static_cast<Index>(unit));
  const Corners<width, T> below(blocks, x, first);
  const Vector<T, width> gradient = load<width>(dy, unit);
  int winner[width];
#pragma unroll
  for (int lane = 0; lane < width; ++lane) {
    winner[lane] = 0;
    float largest = to_float(below.corner[0].lane[lane]);
    for (int i = 1; i < 8; ++i) {
      const float value = to_float(below.corner[i].lane[lane]);
      if (value > largest) {
        largest = value;
        winner[lane] = i;
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    Vector<T, width> result;
#pragma unroll
    for (int lane = 0; lane < width; ++lane) {
      if (winner[lane] == i) {
        result.lane[lane] = gradient.lane[lane];
      } else {
        set_rounded(result.lane[lane], 0.0f);
      }
    }
    store(dx, first + blocks.corner(i), result);
  }
}

struct StartMaxPool {
  template <int width, class T, class Index>
  void operator()(const Blocks<Index>& blocks, const KernelArguments& arguments, dim3 grid) const {
    launch("max_pool", max_pool<width, T, Index>, grid, block_threads, blocks, input<T>(arguments, 0),
           output<T>(arguments));
  }
};
struct StartMaxPoolGradient {
  template <int width, class T, class Index>
  void operator()(const Blocks<Index>& blocks, const KernelArguments& arguments, dim3 grid) const {
    launch("max_pool_gradient", max_pool_gradient<width, T, Index>, grid, block_threads, blocks,
           input<T>(arguments, 0), input<T>(arguments, 1), output<T>(arguments));
  }
};

}  // namespace

std::unique_ptr<Kernel> make_max_pool(const Graph& graph, const Node& node, Device&) {
  return make_for_blocks(output_shape(graph, node), node, input_type(graph, node), StartMaxPool{});
}

std::unique_ptr<Kernel> make_max_pool_gradient(const Graph& graph, const Node& node, Device&) {
  return make_for_blocks(input_shape(graph, node, 1), node, input_type(graph, node), StartMaxPoolGradient{});
}

// Sliding max pooling and its gradient. A thread handles one vector of channels of a voxel of y or, for the
// gradient, of dx. The gradient is gathered per voxel of dx, so no two threads write to the same address.

namespace {

using Tap = std::uint8_t;

template <class Index>
struct Pool {
  PoolAxis z, y, x;
  Index units, columns;  // of the volume whose voxels are assigned to threads; vectors per voxel

  __device__ std::int64_t in(std::int64_t n, std::int64_t iz, std::int64_t iy, std::int64_t ix,
                             std::int64_t column) const {
    return (((n * z.input + iz) * y.input + iy) * x.input + ix) * static_cast<std::int64_t>(columns) + column;
  }
  __device__ std::int64_t out(std::int64_t n, std::int64_t oz, std::int64_t oy, std::int64_t ox,
                              std::int64_t column) const {
    return (((n * z.output + oz) * y.output + oy) * x.output + ox) * static_cast<std::int64_t>(columns) +
           column;
  }
  // The number of the tap with which an output reads an input.
  __device__ Tap tap(std::int64_t of_z, std::int64_t of_y, std::int64_t of_x) const {
    return static_cast<Tap>((of_z * y.kernel + of_y) * x.kernel + of_x);
  }
};

template <int width, class T, class Index>
__global__ void pool_maxima(Pool<Index> pool, const T* x, T* y, Tap* taps) {
  const std::int64_t unit = index_of_thread();
  if (unit >= static_cast<std::int64_t>(pool.units)) return;
  Index rest = static_cast<Index>(unit);
  const std::int64_t column = take_axis(rest, pool.columns),
                     ox = take_axis(rest, static_cast<Index>(pool.x.output)),
                     oy = take_axis(rest, static_cast<Index>(pool.y.output)),
                     oz = take_axis(rest, static_cast<Index>(pool.z.output)),
                     n = static_cast<std::int64_t>(rest);
  const std::int64_t first_z = pool.z.from(oz), first_y = pool.y.from(oy), first_x = pool.x.from(ox);
  Vector<T, width> most = load<width>(x, pool.in(n, first_z, first_y, first_x, column));
  Vector<Tap, width> first;
  for (int lane = 0; lane < width; ++lane)
    first.lane[lane] = pool.tap(pool.z.tap(oz, first_z), pool.y.tap(oy, first_y), pool.x.tap(ox, first_x));
  for (std::int64_t iz = first_z; iz < pool.z.to(oz); ++iz)
    for (std::int64_t iy = first_y; iy < pool.y.to(oy); ++iy)
      for (std::int64_t ix = first_x; ix < pool.x.to(ox); ++ix) {
        const Vector<T, width> next = load<width>(x, pool.in(n, iz, iy, ix, column));
        const Tap tap = pool.tap(pool.z.tap(oz, iz), pool.y.tap(oy, iy), pool.x.tap(ox, ix));
        for (int lane = 0; lane < width; ++lane) {
          if (!(to_float(next.lane[lane]) > to_float(most.lane[lane]))) continue;
          most.lane[lane] = next.lane[lane];
          first.lane[lane] = tap;
        }
      }
  store(y, unit, most);
  store(taps, unit, first);
}

template <int width, class T, class Index>
__global__ void pool_gradient(Pool<Index> pool, const T* dy, const Tap* taps, T* dx) {
  const std::int64_t unit = index_of_thread();
  if (unit >= static_cast<std::int64_t>(pool.units)) return;
  Index rest = static_cast<Index>(unit);
  const std::int64_t column = take_axis(rest, pool.columns),
                     ix = take_axis(rest, static_cast<Index>(pool.x.input)),
                     iy = take_axis(rest, static_cast<Index>(pool.y.input)),
                     iz = take_axis(rest, static_cast<Index>(pool.z.input)),
                     n = static_cast<std::int64_t>(rest);
  float sums[width] = {};
  for (std::int64_t oz = pool.z.first_over(iz); oz < pool.z.end_over(iz); ++oz)
    for (std::int64_t oy = pool.y.first_over(iy); oy < pool.y.end_over(iy); ++oy)
      for (std::int64_t ox = pool.x.first_over(ix); ox < pool.x.end_over(ix); ++ox) {
        const std::int64_t out = pool.out(n, oz, oy, ox, column);
        const Vector<T, width> gradient = load<width>(dy, out);
        const Vector<Tap, width> taken = load<width>(taps, out);
        const Tap tap = pool.tap(pool.z.tap(oz, iz), pool.y.tap(oy, iy), pool.x.tap(ox, ix));
        for (int lane = 0; lane < width; ++lane)
          if (taken.lane[lane] == tap) sums[lane] += to_float(gradient.lane[lane]);
      }
  Vector<T, width> result;
  for (int lane = 0; lane < width; ++lane) set_rounded(result.lane[lane], sums[lane]);
  store(dx, unit, result);
}

// Calls start.operator()<width, T, Index>(pool, arguments, blocks); threads are assigned to the voxels of
// `taken`.
template <class Start>
std::unique_ptr<Kernel> make_for_pool(const Shape& x, const Shape& y, const Shape& taken, const Node& node,
                                      ElementType type, Start start) {
  const KernelAxes axes = kernel_axes(node.attributes);
  const PoolAxis z_axis = pool_axis(x, y, axes, 0), y_axis = pool_axis(x, y, axes, 1),
                 x_axis = pool_axis(x, y, axes, 2);
  const auto geometry = [=]<class Index>(Index units, Index columns) {
    return Pool<Index>{z_axis, y_axis, x_axis, units, columns};
  };
  return make_for_voxels(taken, node, type, geometry, start);
}

struct StartPool {
  template <int width, class T, class Index>
  void operator()(const Pool<Index>& pool, const KernelArguments& arguments, dim3 grid) const {
    launch("sliding_max_pool", pool_maxima<width, T, Index>, grid, block_threads, pool,
           input<T>(arguments, 0), output<T>(arguments), output<Tap>(arguments, 1));
  }
};
struct StartPoolGradient {
  template <int width, class T, class Index>
  void operator()(const Pool<Index>& pool, const KernelArguments& arguments, dim3 grid) const {
    launch("sliding_max_pool_gradient", pool_gradient<width, T, Index>, grid, block_threads, pool,
           input<T>(arguments, 0), input<Tap>(arguments, 1), output<T>(arguments));
  }
};

}  // namespace

std::unique_ptr<Kernel> make_sliding_max_pool(const Graph& graph, const Node& node, Device&) {
  const Shape &x = input_shape(graph, node), &y = output_shape(graph, node);
  return make_for_pool(x, y, y, node, input_type(graph, node), StartPool{});
}

std::unique_ptr<Kernel> make_sliding_max_pool_gradient(const Graph& graph, const Node& node, Device&) {
  const Shape &dx = output_shape(graph, node), &dy = input_shape(graph, node);
  return make_for_pool(dx, dy, dx, node, input_type(graph, node), StartPoolGradient{});
}

// The average over the whole volume, and its gradient.

namespace {

template <class T>
struct TakeMean {
  T* means;
  int channels;
  double voxels;
  __device__ void operator()(std::int64_t sample, int channel, const double (&found)[1]) const {
    set_rounded(means[sample * channels + channel], static_cast<float>(found[0] / voxels));
  }
};

template <class T>
__global__ void spread(std::int64_t count, std::int64_t sample, std::int64_t channels, float factor,
                       const T* dy, T* dx) {
  const std::int64_t i = index_of_thread();
  if (i < count) set_rounded(dx[i], factor * to_float(dy[i / sample * channels + i % channels]));
}

}  // namespace

std::unique_ptr<Kernel> make_average_pool(const Graph& graph, const Node& node, Device& device) {
  const Shape& x = input_shape(graph, node);
  const double voxels = node.attributes.real("voxels");
  return for_type(input_type(graph, node), node.name, [&]<class T>(T) {
    const Rows rows = cut_rows(device, x, full_width<T>, of_a_sum);
    return make_own(
        rows,
        [rows, voxels](const KernelArguments& arguments) {
          double* written = place<double>(arguments, 0);
          for_width<T>(rows, [&]<int width>() {
            launch("average_pool", channel_sums_of_blocks<width, T>, blocks_of(rows), rows.threads(), rows,
                   input<T>(arguments, 0), written);
          });
          launch_finish<1>("average_pool, finish", rows, written,
                           TakeMean<T>{output<T>(arguments), rows.channels, voxels});
        },
        sums_bytes(rows, 1));
  });
}

std::unique_ptr<Kernel> make_average_pool_gradient(const Graph& graph, const Node& node, Device&) {
  const Shape& dx = output_shape(graph, node);
  const std::int64_t count = dx.count(), sample = count / dx[0], channels = dx[4];
  const auto factor = static_cast<float>(1.0 / node.attributes.real("voxels"));
  return for_type(input_type(graph, node), node.name, [&]<class T>(T) {
    return make_own([=](const KernelArguments& arguments) {
      launch("average_pool_gradient", spread<T>, blocks_for(count), block_threads, count, sample, channels,
             factor, input<T>(arguments, 0), output<T>(arguments));
    });
  });
}

}  // namespace voxswap::net::cuda
