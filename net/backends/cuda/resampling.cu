// Resampling: upsampling by 2, linear interpolation, and subsampling of targets.
#include "net/backends/cuda/blocks.cuh"
#include "net/backends/cuda/kernels.h"
#include "net/backends/cuda/launch.cuh"
#include "net/graph/axes.h"

namespace voxswap::net::cuda {

// Nearest-neighbour upsampling by 2, and its gradient.

namespace {

template <class Unit, class Index>
__global__ void upsample_nearest(Blocks<Index> blocks, const Unit* x, Unit* y) {
  const std::int64_t unit = index_of_thread();
  if (unit >= static_cast<std::int64_t>(blocks.units)) return;
  const Unit value = x[unit];
  Unit* below = y + blocks.first_below(static_cast<Index>(unit));
#pragma unroll
  for (int i = 0; i < 8; ++i) below[blocks.corner(i)] = value;
}

template <int width, class T, class Index>
__global__ void upsample_gradient(Blocks<Index> blocks, const T* dy, T* dx) {
  const std::int64_t unit = index_of_thread();
  if (unit >= static_cast<std::int64_t>(blocks.units)) return;
  const Corners<width, T> below(blocks, dy, blocks.first_below(static_cast<Index>(unit)));
  Vector<T, width> result;
#pragma unroll
  for (int lane = 0; lane < width; ++lane) {
    float sum = 0;
    for (int i = 0; i < 8; ++i) sum += to_float(below.corner[i].lane[lane]);
    set_rounded(result.lane[lane], sum);
  }
  store(dx, unit, result);
}

struct StartUpsampleGradient {
  template <int width, class T, class Index>
  void operator()(const Blocks<Index>& blocks, const KernelArguments& arguments, dim3 grid) const {
    launch("upsample_nearest_gradient", upsample_gradient<width, T, Index>, grid, block_threads, blocks,
           input<T>(arguments, 0), output<T>(arguments));
  }
};
}  // namespace

std::unique_ptr<Kernel> make_upsample_nearest(const Graph& graph, const Node& node, Device&) {
  const Shape& coarse = input_shape(graph, node);
  const std::int64_t bytes = element_bytes(input_type(graph, node));
  return make_own([=](const KernelArguments& arguments) {
    for_unit(coarse[4] * bytes, [&]<class Unit>(Unit) {
      const std::int64_t size = static_cast<std::int64_t>(sizeof(Unit)) / bytes,
                         units = coarse.count() / size;
      for_index(units, [&]<class Index>() {
        launch("upsample_nearest", upsample_nearest<Unit, Index>, blocks_for(units), block_threads,
               blocks_below<Index>(coarse, size), input<Unit>(arguments, 0), output<Unit>(arguments));
      });
    });
  });
}

std::unique_ptr<Kernel> make_upsample_nearest_gradient(const Graph& graph, const Node& node, Device&) {
  return make_for_blocks(output_shape(graph, node), node, input_type(graph, node), StartUpsampleGradient{});
}

// Linear interpolation and its gradient. A thread handles one vector of channels of an output voxel.

namespace {

// An axis of the forward pass (net/graph/axes.h). Positions refer to the whole axis; `…_here` of them are
// present, starting at `first_…`.
struct ResizeAxis {
  std::int64_t side, outputs;
  std::int64_t first_side = 0, first_output = 0, sides_here = side, outputs_here = outputs;

  // Rounded as on the host (LinearAxis::between), which determines the planes of a window. No fused
  // multiply-add: its result may be just before a voxel where the host's is on it.
  __device__ double place(std::int64_t o) const {
    const double ratio = static_cast<double>(side) / static_cast<double>(outputs);
    return fmax(__dadd_rn(__dmul_rn(static_cast<double>(o) + 0.5, ratio), -0.5), 0.0);
  }
  __device__ std::int64_t low(std::int64_t o) const {
    const auto i = static_cast<std::int64_t>(place(o));
    return i < side - 1 ? i : side - 1;
  }
  __device__ std::int64_t high(std::int64_t o) const { return low(o) + 1 < side ? low(o) + 1 : side - 1; }
  __device__ float of_high(std::int64_t o) const {
    return static_cast<float>(place(o) - static_cast<double>(low(o)));
  }
  __device__ float weight(std::int64_t o, std::int64_t i) const {
    return (low(o) == i ? 1.0f - of_high(o) : 0.0f) + (high(o) == i ? of_high(o) : 0.0f);
  }
  // Range of outputs that may interpolate input i, widened by one on each side for rounding.
  __device__ std::int64_t first_of(std::int64_t i) const {
    const std::int64_t o = (i - 1) * outputs / side - 2;
    const std::int64_t least = i <= 1 || o < 0 ? 0 : o;
    return least < first_output ? first_output : least;
  }
  __device__ std::int64_t end_of(std::int64_t i) const {
    const std::int64_t o = (i + 2) * outputs / side + 2;
    const std::int64_t most = i >= side - 1 || o > outputs ? outputs : o;
    return most > first_output + outputs_here ? first_output + outputs_here : most;
  }
  __device__ std::int64_t output_here(std::int64_t i) const { return i - first_output; }
  __device__ std::int64_t side_here(std::int64_t i) const { return i - first_side; }
};

template <class Index>
struct Resize {
  ResizeAxis z, y, x;
  Index units, columns;  // of the output volume; vectors per voxel
};

template <int width, class T, class Index>
__global__ void resize(Resize<Index> r, const T* from, T* to) {
  const std::int64_t unit = index_of_thread();
  if (unit >= static_cast<std::int64_t>(r.units)) return;
  Index rest = static_cast<Index>(unit);
  const auto columns = static_cast<std::int64_t>(r.columns);
  const std::int64_t column = take_axis(rest, r.columns),
                     ox = take_axis(rest, static_cast<Index>(r.x.outputs)),
                     oy = take_axis(rest, static_cast<Index>(r.y.outputs)),
                     oz = take_axis(rest, static_cast<Index>(r.z.outputs_here)) + r.z.first_output,
                     n = static_cast<std::int64_t>(rest);
  const float wz = r.z.of_high(oz), wy = r.y.of_high(oy), wx = r.x.of_high(ox);
  float sums[width] = {};
  for (int i = 0; i < 8; ++i) {
    const std::int64_t iz = i & 4 ? r.z.high(oz) : r.z.low(oz), iy = i & 2 ? r.y.high(oy) : r.y.low(oy),
                       ix = i & 1 ? r.x.high(ox) : r.x.low(ox);
    const float weight = (i & 4 ? wz : 1.0f - wz) * (i & 2 ? wy : 1.0f - wy) * (i & 1 ? wx : 1.0f - wx);
    const Vector<T, width> corner = load<width>(
        from,
        (((n * r.z.sides_here + r.z.side_here(iz)) * r.y.side + iy) * r.x.side + ix) * columns + column);
    for (int lane = 0; lane < width; ++lane) sums[lane] += weight * to_float(corner.lane[lane]);
  }
  Vector<T, width> result;
  for (int lane = 0; lane < width; ++lane) set_rounded(result.lane[lane], sums[lane]);
  store(to, unit, result);
}

template <int width, class T, class Index>
__global__ void resize_gradient(Resize<Index> r, const T* dy, T* dx) {
  const std::int64_t unit = index_of_thread();
  if (unit >= static_cast<std::int64_t>(r.units)) return;
  Index rest = static_cast<Index>(unit);
  const auto columns = static_cast<std::int64_t>(r.columns);
  const std::int64_t column = take_axis(rest, r.columns), ix = take_axis(rest, static_cast<Index>(r.x.side)),
                     iy = take_axis(rest, static_cast<Index>(r.y.side)),
                     iz = take_axis(rest, static_cast<Index>(r.z.sides_here)) + r.z.first_side,
                     n = static_cast<std::int64_t>(rest);
  float sums[width] = {};
  for (std::int64_t oz = r.z.first_of(iz); oz < r.z.end_of(iz); ++oz) {
    const float wz = r.z.weight(oz, iz);
    if (wz == 0.0f) continue;
    for (std::int64_t oy = r.y.first_of(iy); oy < r.y.end_of(iy); ++oy) {
      const float wzy = wz * r.y.weight(oy, iy);
      if (wzy == 0.0f) continue;
      for (std::int64_t ox = r.x.first_of(ix); ox < r.x.end_of(ix); ++ox) {
        const float weight = wzy * r.x.weight(ox, ix);
        if (weight == 0.0f) continue;
        const Vector<T, width> gradient = load<width>(
            dy,
            (((n * r.z.outputs_here + r.z.output_here(oz)) * r.y.outputs + oy) * r.x.outputs + ox) * columns +
                column);
        for (int lane = 0; lane < width; ++lane) sums[lane] += weight * to_float(gradient.lane[lane]);
      }
    }
  }
  Vector<T, width> result;
  for (int lane = 0; lane < width; ++lane) set_rounded(result.lane[lane], sums[lane]);
  store(dx, unit, result);
}

// Calls start.operator()<width, T, Index>(resize, arguments, blocks); `made` is the output's shape.
template <class Start>
std::unique_ptr<Kernel> make_for_resize(const Shape& from, const Shape& to, const Shape& made,
                                        const Node& node, ElementType type, Start start) {
  const LinearAxis depth = linear_depth(node.attributes, from, to);
  const ResizeAxis z = {depth.side, depth.outputs, depth.first_side, depth.first_output, from[1], to[1]},
                   y = {from[2], to[2]}, x = {from[3], to[3]};
  const auto geometry = [=]<class Index>(Index units, Index columns) {
    return Resize<Index>{z, y, x, units, columns};
  };
  return make_for_voxels(made, node, type, geometry, start);
}

struct StartResize {
  template <int width, class T, class Index>
  void operator()(const Resize<Index>& r, const KernelArguments& arguments, dim3 grid) const {
    launch("resize_linear", resize<width, T, Index>, grid, block_threads, r, input<T>(arguments, 0),
           output<T>(arguments));
  }
};
struct StartResizeGradient {
  template <int width, class T, class Index>
  void operator()(const Resize<Index>& r, const KernelArguments& arguments, dim3 grid) const {
    launch("resize_linear_gradient", resize_gradient<width, T, Index>, grid, block_threads, r,
           input<T>(arguments, 0), output<T>(arguments));
  }
};

}  // namespace

std::unique_ptr<Kernel> make_resize_linear(const Graph& graph, const Node& node, Device&) {
  const Shape &x = input_shape(graph, node), &y = output_shape(graph, node);
  return make_for_resize(x, y, y, node, input_type(graph, node), StartResize{});
}

std::unique_ptr<Kernel> make_resize_linear_gradient(const Graph& graph, const Node& node, Device&) {
  const Shape &dy = input_shape(graph, node), &dx = output_shape(graph, node);
  return make_for_resize(dx, dy, dx, node, input_type(graph, node), StartResizeGradient{});
}

// The middle voxel of each block of a target, one thread per output byte.

namespace {

// Number of bytes and voxels of the output, and the size of its blocks.
template <class Index>
struct Subsampled {
  Index count, height, width, bytes;  // bytes per voxel
  std::int64_t d, h, w;
};

template <class Index>
__global__ void subsample(Subsampled<Index> made, const std::uint8_t* x, std::uint8_t* y) {
  const std::int64_t thread = index_of_thread();
  if (thread >= static_cast<std::int64_t>(made.count)) return;
  Index rest = static_cast<Index>(thread);
  const std::int64_t byte = take_axis(rest, made.bytes);
  const std::int64_t column = take_axis(rest, made.width), row = take_axis(rest, made.height);
  const std::int64_t plane = static_cast<std::int64_t>(rest) * made.d + made.d / 2;  // over all samples
  const std::int64_t line =
      plane * static_cast<std::int64_t>(made.height) * made.h + row * made.h + made.h / 2;
  const std::int64_t voxel =
      line * static_cast<std::int64_t>(made.width) * made.w + column * made.w + made.w / 2;
  y[thread] = x[voxel * static_cast<std::int64_t>(made.bytes) + byte];
}

}  // namespace

std::unique_ptr<Kernel> make_subsample(const Graph& graph, const Node& node, Device&) {
  const Shape y = graph.value(node.outputs[0]).shape;
  const std::int64_t d = node.attributes.integer("d"), h = node.attributes.integer("h"),
                     w = node.attributes.integer("w"), bytes = y.rank() == 4 ? 1 : y[4];  // per voxel
  return make_own([=](const KernelArguments& arguments) {
    for_index(y.count(), [&]<class Index>() {
      const Subsampled<Index> made = {static_cast<Index>(y.count()),
                                      static_cast<Index>(y[2]),
                                      static_cast<Index>(y[3]),
                                      static_cast<Index>(bytes),
                                      d,
                                      h,
                                      w};
      launch("subsample", subsample<Index>, blocks_for(y.count()), block_threads, made,
             input<std::uint8_t>(arguments, 0), output<std::uint8_t>(arguments));
    });
  });
}

}  // namespace voxswap::net::cuda
