// A block computes tiles of a volume. It copies the voxels that a tile's taps read into shared memory, so
// that each is read from device memory once or twice, not 27 times. Warps then multiply 16 x 16 matrices.
//
// A voxel's sum has the same order wherever its tile begins and the volume is split, so slabs give the same
// bits as a whole volume. A window over several slabs (net/graph/window.h) is read in place: computing border
// planes separately, as with a library, would cost as much as whole tiles.
#include <algorithm>
#include <limits>
#include <warp_matrix.cuh>

#include "net/backends/cuda/kernels.h"
#include "net/backends/cuda/launch.cuh"
#include "net/backends/cuda/narrow_convolution.h"
#include "net/backends/cuda/narrow_tiles.cuh"
#include "net/backends/cuda/weights.h"
#include "net/backends/cuda/workspace.h"
#include "net/graph/block_sums.h"
#include "net/graph/window.h"

namespace voxswap::net::cuda {

namespace {

constexpr int outputs = 16;
constexpr int row_taps = 3, plane_taps = 9;

// Number of steps per row; a step multiplies 16 channels of one tap, or 8 of two neighbouring taps. The
// second step of 8 channels has one tap, and zeros.
template <int channels>
constexpr int steps_of_row = channels == 16 ? 3 : 2;
template <int channels>
constexpr int steps_of_all = plane_taps* steps_of_row<channels>;

// --- y = w * x

constexpr int made_depth = 4, made_height = 8, made_threads = 256, rows_of_warp = 4;

// Weights as [step][output][16], the factor of each step. For the convolution of a gradient, taps are in
// reverse order, and inputs and outputs are exchanged.
template <class T>
__global__ void pack_steps(int count, int channels, bool of_gradient, const float* w, T* to) {
  const int i = static_cast<int>(index_of_thread());
  if (i >= count) return;
  const int k = i % 16, out = i / 16 % outputs, step = i / (16 * outputs);
  const int channel = k % channels, dx = channels == 16 ? step % 3 : step % 2 * 2 + k / 8;
  const int tap = step / (channels == 16 ? 3 : 2) * row_taps + dx;
  float value = 0;
  if (dx < row_taps)
    value =
        of_gradient ? w[(channel * outputs + out) * 27 + 26 - tap] : w[(out * channels + channel) * 27 + tap];
  set_rounded(to[i], value);
}

template <class T, int channels>
__global__ void __launch_bounds__(made_threads, 3)
    narrow_convolution(Volumes v, Tiles<made_depth, made_height> tiles, __grid_constant__ const Slabs x,
                       const T* weights, const float* bias, const T* start, T* y) {
  constexpr int height = made_height + 2, width = tile_width + 2, halves = channels / 8;
  constexpr int box = (made_depth + 2) * height * width * halves, steps = steps_of_all<channels>;
  __shared__ Bytes16 shared_x[box + 1], shared_w[steps * outputs * 2];
  const Tile tile = tiles.at(blockIdx.x);
  copy_box<channels, made_depth + 2, height, width>(
      x, x.planes, v, {tile.sample, tile.z - v.before, tile.y - 1, tile.x - 1}, shared_x);
  if (threadIdx.x == 0) shared_x[box] = {};
  for (int i = static_cast<int>(threadIdx.x); i < steps * outputs * 2; i += made_threads)
    shared_w[swizzled(i / 2, i % 2)] = reinterpret_cast<const Bytes16*>(weights)[i];
  __syncthreads();

  const int warp = static_cast<int>(threadIdx.x) / 32, z = warp / 2, first_row = warp % 2 * rows_of_warp;
  const auto elements = [](const Bytes16* shared, int at) { return reinterpret_cast<const T*>(shared + at); };
  SumMatrix sums[rows_of_warp];
  for (int dz = 0; dz < 3; ++dz) {
    for (int step = 0; step < steps_of_row<channels>; ++step) {
      RightMatrix<T> w[3];
#pragma unroll
      for (int dy = 0; dy < 3; ++dy)
        load_columns(w[dy], [&](int out, int half) {
          return elements(shared_w,
                          swizzled(((dz * 3 + dy) * steps_of_row<channels> + step) * outputs + out, half));
        });
        // Each input row contributes to up to three output rows.
#pragma unroll
      for (int row = 0; row < rows_of_warp + 2; ++row) {
        LeftMatrix<T> a;
        load(a, [&](int column, int half) {
          const int voxel = ((z + dz) * height + first_row + row) * width + column;
          if constexpr (channels == 16) return elements(shared_x, swizzled(voxel + step, half));
          return elements(shared_x, 2 * step + half == row_taps ? box : voxel + 2 * step + half);
        });
#pragma unroll
        for (int dy = 0; dy < 3; ++dy)
          if (row >= dy && row - dy < rows_of_warp) multiply_add(sums[row - dy], a, w[dy]);
      }
    }
  }

  const int at_z = tile.z + z;
#pragma unroll
  for (int row = 0; row < rows_of_warp; ++row) {
    const int at_y = tile.y + first_row + row;
    for_pairs(sums[row], [&](int column, int out, float first, float second) {
      const int at_x = tile.x + column;
      if (at_z >= v.planes || at_y >= v.height || at_x >= v.width) return;
      const std::int64_t voxel = ((tile.sample * v.planes + at_z) * v.height + at_y) * v.width + at_x;
      const std::int64_t pair = (voxel * outputs + out) / 2;
      if (bias != nullptr) {
        first += bias[out];
        second += bias[out + 1];
      }
      if (start != nullptr) {
        const Vector<T, 2> added = load<2>(start, pair);
        first += to_float(added.lane[0]);
        second += to_float(added.lane[1]);
      }
      Vector<T, 2> result;
      set_rounded(result.lane[0], first);
      set_rounded(result.lane[1], second);
      store(y, pair, result);
    });
  }
}

// --- dw from x and dy

constexpr int read_depth = 4, read_height = 4, read_threads = 9 * 32;
// Number of parts of each sum, each with its own partial sum of every weight: enough for a device, but with
// at least four tiles each, which take longer than writing the part.
std::int64_t parts_of(std::int64_t tiles, std::int64_t sums) {
  constexpr std::int64_t enough = 512, tiles_of_part = 4;
  return std::max(std::min(tiles / tiles_of_part, enough / sums), std::int64_t{1});
}

// One warp per tap of a plane; the steps are those of a row. blockIdx.y counts blocks of `block` planes of
// dy, which are summed separately.
template <class T, int channels>
__global__ void __launch_bounds__(read_threads, 3)
    narrow_weight_gradient_of_blocks(Volumes v, Tiles<read_depth, read_height> tiles, int block,
                                     __grid_constant__ const Slabs x, __grid_constant__ const Slabs dy,
                                     float* parts) {
  constexpr int height = read_height + 2, width = tile_width + (channels == 16 ? 2 : 3),
                halves = channels / 8;
  __shared__ Bytes16 shared_x[(read_depth + 2) * height * width * halves];
  __shared__ Bytes16 shared_dy[read_depth * read_height * tile_width * 2];
  const int warp = static_cast<int>(threadIdx.x) / 32, dz = warp / 3, tap_y = warp % 3;
  const auto elements = [](const Bytes16* shared, int at) { return reinterpret_cast<const T*>(shared + at); };
  SumMatrix sums[steps_of_row<channels>];
  const int first_plane = static_cast<int>(blockIdx.y) * block;
  const int end = first_plane + block < dy.planes ? first_plane + block : dy.planes;
  for (std::int64_t index = blockIdx.x; index < tiles.count; index += gridDim.x) {
    Tile tile = tiles.at(index);
    tile.z += first_plane;
    __syncthreads();
    copy_box<channels, read_depth + 2, height, width>(
        x, x.planes, v, {tile.sample, tile.z - v.before, tile.y - 1, tile.x - 1}, shared_x);
    copy_box<outputs, read_depth, read_height, tile_width>(dy, end, v, tile, shared_dy);
    __syncthreads();
    for (int row = 0; row < read_depth * read_height; ++row) {
      RightMatrix<T> gradient;
      load_rows(gradient, [&](int voxel, int half) {
        return elements(shared_dy, swizzled(row * tile_width + voxel, half));
      });
#pragma unroll
      for (int step = 0; step < steps_of_row<channels>; ++step) {
        LeftMatrix<T> a;
        load_transposed(a, [&](int column, int half) {
          const int voxel = ((row / read_height + dz) * height + row % read_height + tap_y) * width + column;
          if constexpr (channels == 16) return elements(shared_x, swizzled(voxel + step, half));
          return elements(shared_x, voxel + 2 * step + half);
        });
        multiply_add(sums[step], a, gradient);
      }
    }
  }
  const std::int64_t part = static_cast<std::int64_t>(blockIdx.y) * gridDim.x + blockIdx.x;
  float* const own = parts + part * outputs * channels * 27;
#pragma unroll
  for (int step = 0; step < steps_of_row<channels>; ++step)
    for_pairs(sums[step], [&](int row, int out, float first, float second) {
      const int dx = channels == 16 ? step : 2 * step + row / 8;
      if (dx >= row_taps) return;
      float* const place = own + (out * channels + row % channels) * 27 + (dz * 3 + tap_y) * row_taps + dx;
      place[0] = first;
      place[channels * 27] = second;
    });
}

// --- Kernels of nodes

// Calls start.operator()<T, channels>().
template <class Start>
void for_narrow(ElementType type, std::int64_t channels, Start start) {
  const auto with_type = [&]<class T>(T) {
    if (channels == 16) {
      start.template operator()<T, 16>();
    } else {
      start.template operator()<T, 8>();
    }
  };
  if (type == ElementType::bf16) {
    with_type(Bf16{});
  } else {
    with_type(F16{});
  }
}

// A volume to read, among a node's inputs.
class Read {
 public:
  Read(std::size_t input, std::int64_t planes) : input_(input), planes_(planes), ends_({planes}) {}
  Read(const Graph& graph, const Window& window)
      : input_(window.others.size()), skip_(window.skip), planes_(window.planes) {
    std::int64_t end = -skip_;
    for (const ValueId id : window.slabs.front()) ends_.push_back(end += graph.value(id).shape[1]);
  }
  Slabs slabs(const KernelArguments& arguments) const {
    Slabs result = {};
    result.first[0] = static_cast<int>(-skip_);
    result.planes = static_cast<int>(planes_);
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      result.at[i] = input<Bytes16>(arguments, input_ + i);
      result.first[i + 1] = static_cast<int>(ends_[i]);
    }
    return result;
  }

 private:
  std::size_t input_;
  std::int64_t skip_ = 0, planes_;
  std::vector<std::int64_t> ends_;
};

Volumes volumes_of(const Shape& shape, std::int64_t before) {
  return {static_cast<int>(shape[1]), static_cast<int>(shape[2]), static_cast<int>(shape[3]),
          static_cast<int>(before)};
}

constexpr const char* implementation = "own kernel, tensor cores";
constexpr std::size_t none_added = std::numeric_limits<std::size_t>::max();

// `added`: the input that is a bias or, for Start::sum, a volume; or none_added.
std::unique_ptr<Kernel> make_convolution(const ConvolutionProblem& problem, const Read& read,
                                         std::size_t weights, std::size_t added) {
  const bool gradient = problem.kind == ConvolutionProblem::Kind::data_gradient;
  const bool sum = problem.start == ConvolutionProblem::Start::sum;
  const Shape &from = gradient ? problem.y : problem.x, &made = gradient ? problem.x : problem.y;
  const std::int64_t before = problem.axes[0].before, channels = from[4];
  const ElementType type = problem.type;
  const int count = static_cast<int>(channels == 16 ? steps_of_all<16> : steps_of_all<8>) * outputs * 16;
  const Volumes volumes = volumes_of(made, gradient ? 2 - before : before);
  const Tiles<made_depth, made_height> tiles(volumes, volumes.planes, made[0]);
  DeviceWorkspace plan;
  const std::int64_t packed = plan.book(count * element_bytes(type));
  return make_function_kernel(
      [=](const KernelArguments& arguments) {
        for_narrow(type, channels, [&]<class T, int width>() {
          T* const steps = DeviceWorkspace::at<T>(arguments, packed);
          launch("pack_steps", pack_steps<T>, blocks_for(count), block_threads, count, width, gradient,
                 input<float>(arguments, weights), steps);
          const bool adds = added != none_added;
          launch("narrow_convolution", narrow_convolution<T, width>, dim3(static_cast<unsigned>(tiles.count)),
                 made_threads, volumes, tiles, read.slabs(arguments), steps,
                 adds && !sum ? input<float>(arguments, added) : nullptr,
                 adds && sum ? input<T>(arguments, added) : nullptr, output<T>(arguments));
        });
      },
      plan.bytes(), implementation);
}

// A separate sum for each block of `block` planes.
std::unique_ptr<Kernel> make_weight_gradient(const ConvolutionProblem& problem, const Read& x, const Read& dy,
                                             std::int64_t block, bool bias, Device& device) {
  const std::int64_t channels = problem.x[4], count = outputs * channels * 27,
                     voxels = problem.y.count() / outputs;
  const Volumes volumes = volumes_of(problem.y, problem.axes[0].before);
  const Tiles<read_depth, read_height> tiles(volumes, static_cast<int>(block), problem.x[0]);
  const std::int64_t blocks = (problem.y[1] + block - 1) / block, parts = parts_of(tiles.count, blocks);
  const ElementType type = problem.type;
  DeviceWorkspace plan;
  const std::int64_t parts_place =
      plan.book(blocks * parts * count * static_cast<std::int64_t>(sizeof(float)));
  const std::int64_t sums = bias ? plan.book(channel_sums_workspace(type, voxels, outputs, device)) : 0;
  return make_function_kernel(
      [=, &device](const KernelArguments& arguments) {
        float* const written = DeviceWorkspace::at<float>(arguments, parts_place);
        for_narrow(type, channels, [&]<class T, int width>() {
          launch("narrow_weight_gradient", narrow_weight_gradient_of_blocks<T, width>,
                 dim3(static_cast<unsigned>(parts), static_cast<unsigned>(blocks)), read_threads, volumes,
                 tiles, static_cast<int>(block), x.slabs(arguments), dy.slabs(arguments), written);
        });
        add_parts(written, parts, count, output<float>(arguments), blocks);
        if (bias)
          channel_sums(arguments.inputs[1], output<float>(arguments, 1), type, voxels, outputs,
                       DeviceWorkspace::at<void>(arguments, sums), device);
      },
      plan.bytes(), implementation);
}

}  // namespace

bool is_narrow(const ConvolutionProblem& problem, const Device& device) {
  const bool halves = problem.type == ElementType::bf16 || problem.type == ElementType::f16;
  const bool gradient = problem.kind == ConvolutionProblem::Kind::data_gradient;
  const Shape &read = gradient ? problem.y : problem.x, &other = gradient ? problem.x : problem.y;
  if (!halves || device.major < 8 || other[4] != outputs || (read[4] != 8 && read[4] != 16)) return false;
  for (const KernelAxis& axis : problem.axes)
    if (axis.kernel != 3 || axis.stride != 1 || axis.dilation != 1) return false;
  const auto padded = [](const KernelAxis& axis) { return axis.before == 1 && axis.behind == 1; };
  const Volumes volumes = volumes_of(other, 0);
  const Tiles<made_depth, made_height> tiles(volumes, volumes.planes, other[0]);
  return padded(problem.axes[1]) && padded(problem.axes[2]) && tiles.count <= std::numeric_limits<int>::max();
}

std::unique_ptr<Kernel> narrow_convolution(const ConvolutionProblem& problem, bool bias, Device& device) {
  if (problem.kind == ConvolutionProblem::Kind::weight_gradient)
    return make_weight_gradient(problem, {0, problem.x[1]}, {1, problem.y[1]}, problem.y[1], bias, device);
  const bool gradient = problem.kind == ConvolutionProblem::Kind::data_gradient;
  const bool adds = bias || problem.start != ConvolutionProblem::Start::zero;
  return make_convolution(problem, {0, gradient ? problem.y[1] : problem.x[1]}, 1, adds ? 2 : none_added);
}

std::unique_ptr<Kernel> make_windowed_narrow_convolution(const Graph& graph, const Node& node,
                                                         Device& device) {
  const Operation& inner = node.operation->inner();
  const Window window = window_of(inner, node.inputs, node.attributes);
  if (window.slabs.size() != 1 || window.slabs.front().size() > most_slabs) return nullptr;
  const Graph slab = slab_graph(graph, inner, node.inputs, node.attributes);
  const std::optional<ConvolutionProblem> problem = convolution_problem(slab, slab.node(0));
  if (!problem || !is_narrow(*problem, device)) return nullptr;
  const Read read(graph, window);
  if (problem->kind != ConvolutionProblem::Kind::weight_gradient)
    return make_convolution(*problem, read, 0, window.others.size() > 1 ? 1 : none_added);
  const Attributes& attributes = slab.node(0).attributes;
  if (attributes.flag("bias")) return nullptr;
  return make_weight_gradient(*problem, read, {0, problem->y[1]},
                              sum_blocks(attributes, problem->y[1]).planes,
                              /*bias=*/false, device);
}

}  // namespace voxswap::net::cuda
