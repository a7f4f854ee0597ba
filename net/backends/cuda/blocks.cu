// Nearest-neighbour upsampling and max pooling by 2, and their gradients. A thread handles one vector of
// channels of a coarse voxel and its eight fine voxels.
#include "net/backends/cuda/kernels.h"
#include "net/backends/cuda/launch.cuh"

namespace voxswap::net::cuda {

namespace {

// Both volumes in units of vectors, `columns` per voxel.
template <class Index>
struct Blocks {
  Index pieces;  // of the coarse volume
  Index height, width, columns;

  // Index of the first fine unit of a coarse one; the others are row() and plane() away.
  __device__ std::int64_t first_below(Index piece) const {
    const std::int64_t column = take_axis(piece, columns), x = take_axis(piece, width),
                       y = take_axis(piece, height);
    const std::int64_t z = static_cast<std::int64_t>(piece);  // numbered over all samples
    return 2 * z * plane() + 2 * y * row() + 2 * x * static_cast<std::int64_t>(columns) + column;
  }
  __device__ std::int64_t row() const {
    return 2 * static_cast<std::int64_t>(width) * static_cast<std::int64_t>(columns);
  }
  __device__ std::int64_t plane() const { return 2 * static_cast<std::int64_t>(height) * row(); }
  // In scan order: corner 4 dz + 2 dy + dx.
  __device__ std::int64_t corner(int i) const {
    return (i >> 2) * plane() + (i >> 1 & 1) * row() + (i & 1) * static_cast<std::int64_t>(columns);
  }
};

template <class Piece, class Index>
__global__ void upsample_nearest(Blocks<Index> blocks, const Piece* x, Piece* y) {
  const std::int64_t piece = index_of_thread();
  if (piece >= static_cast<std::int64_t>(blocks.pieces)) return;
  const Piece value = x[piece];
  Piece* below = y + blocks.first_below(static_cast<Index>(piece));
#pragma unroll
  for (int i = 0; i < 8; ++i) below[blocks.corner(i)] = value;
}

template <int width, class T>
struct Corners {
  Vector<T, width> corner[8];

  template <class Index>
  __device__ Corners(const Blocks<Index>& blocks, const T* fine, std::int64_t first) {
#pragma unroll
    for (int i = 0; i < 8; ++i) corner[i] = load<width>(fine, first + blocks.corner(i));
  }
};

template <int width, class T, class Index>
__global__ void upsample_gradient(Blocks<Index> blocks, const T* dy, T* dx) {
  const std::int64_t piece = index_of_thread();
  if (piece >= static_cast<std::int64_t>(blocks.pieces)) return;
  const Corners<width, T> below(blocks, dy, blocks.first_below(static_cast<Index>(piece)));
  Vector<T, width> result;
#pragma unroll
  for (int lane = 0; lane < width; ++lane) {
    float sum = 0;
    for (int i = 0; i < 8; ++i) sum += to_float(below.corner[i].lane[lane]);
    set_rounded(result.lane[lane], sum);
  }
  store(dx, piece, result);
}

template <int width, class T, class Index>
__global__ void max_pool(Blocks<Index> blocks, const T* x, T* y) {
  const std::int64_t piece = index_of_thread();
  if (piece >= static_cast<std::int64_t>(blocks.pieces)) return;
  const Corners<width, T> below(blocks, x, blocks.first_below(static_cast<Index>(piece)));
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
  store(y, piece, result);
}

template <int width, class T, class Index>
__global__ void max_pool_gradient(Blocks<Index> blocks, const T* x, const T* dy, T* dx) {
  const std::int64_t piece = index_of_thread();
  if (piece >= static_cast<std::int64_t>(blocks.pieces)) return;
  const std::int64_t first = blocks.first_below(static_cast<Index>(piece));
  const Corners<width, T> below(blocks, x, first);
  const Vector<T, width> gradient = load<width>(dy, piece);
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

// For the coarse shape N,d,h,w,C in vectors of `size` channels.
template <class Index>
Blocks<Index> blocks_below(const Shape& coarse, std::int64_t size) {
  const auto index = [](std::int64_t value) { return static_cast<Index>(value); };
  return {index(coarse.count() / size), index(coarse[2]), index(coarse[3]), index(coarse[4] / size)};
}

// A kernel that calls start.operator()<width, T, Index>(blocks, arguments, number of vectors).
template <class Start>
std::unique_ptr<Kernel> make_for_blocks(const Shape& coarse, const Node& node, ElementType type,
                                        Start start) {
  return for_type(type, node.name, [&]<class T>(T) {
    const bool whole = coarse[4] % full_width<T> == 0;
    const std::int64_t size = whole ? full_width<T> : 1, pieces = coarse.count() / size;
    return make_own([=](const KernelArguments& arguments) {
      for_index(pieces, [&]<class Index>() {
        const Blocks<Index> blocks = blocks_below<Index>(coarse, size);
        if (whole) {
          start.template operator()<full_width<T>, T, Index>(blocks, arguments, blocks_for(pieces));
        } else {
          start.template operator()<1, T, Index>(blocks, arguments, blocks_for(pieces));
        }
      });
    });
  });
}

struct StartUpsampleGradient {
  template <int width, class T, class Index>
  void operator()(const Blocks<Index>& blocks, const KernelArguments& arguments, dim3 grid) const {
    launch("upsample_nearest_gradient", upsample_gradient<width, T, Index>, grid, block_threads, blocks,
           input<T>(arguments, 0), output<T>(arguments));
  }
};
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

std::unique_ptr<Kernel> make_upsample_nearest(const Graph& graph, const Node& node, Device&) {
  const Shape& coarse = input_shape(graph, node);
  const std::int64_t bytes = element_bytes(input_type(graph, node));
  return make_own([=](const KernelArguments& arguments) {
    for_piece(coarse[4] * bytes, [&]<class Piece>(Piece) {
      const std::int64_t size = static_cast<std::int64_t>(sizeof(Piece)) / bytes,
                         pieces = coarse.count() / size;
      for_index(pieces, [&]<class Index>() {
        launch("upsample_nearest", upsample_nearest<Piece, Index>, blocks_for(pieces), block_threads,
               blocks_below<Index>(coarse, size), input<Piece>(arguments, 0), output<Piece>(arguments));
      });
    });
  });
}

std::unique_ptr<Kernel> make_upsample_nearest_gradient(const Graph& graph, const Node& node, Device&) {
  return make_for_blocks(output_shape(graph, node), node, input_type(graph, node), StartUpsampleGradient{});
}

std::unique_ptr<Kernel> make_max_pool(const Graph& graph, const Node& node, Device&) {
  return make_for_blocks(output_shape(graph, node), node, input_type(graph, node), StartMaxPool{});
}

std::unique_ptr<Kernel> make_max_pool_gradient(const Graph& graph, const Node& node, Device&) {
  return make_for_blocks(input_shape(graph, node, 1), node, input_type(graph, node), StartMaxPoolGradient{});
}

}  // namespace voxswap::net::cuda
