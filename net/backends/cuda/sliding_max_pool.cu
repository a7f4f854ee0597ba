// Sliding max pooling and its gradient. A thread handles one vector of channels of a voxel of y or, for the
// gradient, of dx. The gradient is gathered per voxel of dx, so no two threads write to the same address.
#include "net/backends/cuda/kernels.h"
#include "net/backends/cuda/launch.cuh"
#include "net/backends/pool_axis.h"
#include "net/graph/axes.h"

namespace voxswap::net::cuda {

namespace {

using Tap = std::uint8_t;

template <class Index>
struct Pool {
  PoolAxis z, y, x;
  Index pieces, columns;  // of the volume whose voxels are assigned to threads; vectors per voxel

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
  const std::int64_t piece = index_of_thread();
  if (piece >= static_cast<std::int64_t>(pool.pieces)) return;
  Index rest = static_cast<Index>(piece);
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
  store(y, piece, most);
  store(taps, piece, first);
}

template <int width, class T, class Index>
__global__ void pool_gradient(Pool<Index> pool, const T* dy, const Tap* taps, T* dx) {
  const std::int64_t piece = index_of_thread();
  if (piece >= static_cast<std::int64_t>(pool.pieces)) return;
  Index rest = static_cast<Index>(piece);
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
  store(dx, piece, result);
}

// Calls start.operator()<width, T, Index>(pool, arguments, blocks); threads are assigned to the voxels of
// `taken`.
template <class Start>
std::unique_ptr<Kernel> make_for_pool(const Shape& x, const Shape& y, const Shape& taken, const Node& node,
                                      ElementType type, Start start) {
  const KernelAxes axes = kernel_axes(node.attributes);
  const PoolAxis z_axis = pool_axis(x, y, axes, 0), y_axis = pool_axis(x, y, axes, 1),
                 x_axis = pool_axis(x, y, axes, 2);
  return for_type(type, node.name, [&]<class T>(T) {
    const bool whole = taken[4] % full_width<T> == 0;
    const std::int64_t size = whole ? full_width<T> : 1, pieces = taken.count() / size,
                       columns = taken[4] / size;
    return make_own([=](const KernelArguments& arguments) {
      for_index(pieces, [&]<class Index>() {
        const Pool<Index> pool = {z_axis, y_axis, x_axis, static_cast<Index>(pieces),
                                  static_cast<Index>(columns)};
        if (whole) {
          start.template operator()<full_width<T>, T, Index>(pool, arguments, blocks_for(pieces));
        } else {
          start.template operator()<1, T, Index>(pool, arguments, blocks_for(pieces));
        }
      });
    });
  });
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

}  // namespace voxswap::net::cuda
