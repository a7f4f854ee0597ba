// A block computes tiles of a volume. It copies the voxels that a tile's taps read into shared memory, so
// each is read from device memory once or twice and not 27 times; from there warps multiply matrices of 16
// x 16.
//
// A voxel's sum has the same order wherever its tile begins and wherever the volume is cut, so a volume in
// pieces has the bits of a whole one.
#include <algorithm>
#include <limits>
#include <warp_matrix.cuh>

#include "net/backends/cuda/launch.cuh"
#include "net/backends/cuda/matrix_product.h"
#include "net/backends/cuda/narrow_convolution.h"
#include "net/backends/cuda/weights.h"

namespace voxswap::net::cuda {

namespace {

constexpr int outputs = 16, tile_width = 16;  // a row of a tile is a matrix: 16 voxels of 16 channels
constexpr int row_taps = 3, plane_taps = 9;

// What is added to a row's products at once: 16 channels of one tap, or 8 of two neighbouring taps. The
// second step of 8 channels has one tap, and zeros.
template <int channels>
constexpr int steps_of_row = channels == 16 ? 3 : 2;
template <int channels>
constexpr int steps_of_all = plane_taps* steps_of_row<channels>;

// Where the halves of voxels or rows of 16 channels lie in shared memory, in units of 16 bytes: eight
// neighbours in different banks.
__device__ inline int swizzled(int row, int half) {
  return 2 * row + (half ^ (row >> 2 & 1));
}
template <int channels>
__device__ int place_of(int voxel, int half) {
  return channels == 16 ? swizzled(voxel, half) : voxel;
}

struct Volumes {
  int planes_read, planes, height,
      width;   // of the volume that is read (height and width are alike), and of the other
  int before;  // zero planes before the first that is read
};

struct Tile {
  std::int64_t sample;
  int z, y, x;  // of its first voxel
};

template <int depth, int height>
struct Tiles {
  int along_y, along_x;
  std::int64_t along_z, count;

  Tiles(const Volumes& v, std::int64_t samples)
      : along_y((v.height + height - 1) / height),
        along_x((v.width + tile_width - 1) / tile_width),
        along_z((v.planes + depth - 1) / depth),
        count(samples * along_z * along_y * along_x) {}
  __device__ Tile at(std::int64_t index) const {
    const std::int64_t rows = index / along_x, planes = rows / along_y;
    return {planes / along_z, static_cast<int>(planes % along_z) * depth,
            static_cast<int>(rows % along_y) * height, static_cast<int>(index % along_x) * tile_width};
  }
};

// Voxels from (z, y, x) on, zeros outside of the volume.
template <int channels, int depth, int height, int width>
__device__ void copy_box(const Bytes16* sample, int planes, const Volumes& v, int z, int y, int x,
                         Bytes16* shared) {
  constexpr int halves = channels / 8;
  for (int i = static_cast<int>(threadIdx.x); i < depth * height * width * halves;
       i += static_cast<int>(blockDim.x)) {
    const int half = i % halves, voxel = i / halves;
    const int at_x = x + voxel % width, at_y = y + voxel / width % height,
              at_z = z + voxel / (width * height);
    Bytes16 content = {};
    if (at_z >= 0 && at_z < planes && at_y >= 0 && at_y < v.height && at_x >= 0 && at_x < v.width)
      content =
          sample[((static_cast<std::int64_t>(at_z) * v.height + at_y) * v.width + at_x) * halves + half];
    shared[place_of<channels>(voxel, half)] = content;
  }
}

__device__ inline std::int64_t voxels_of_sample(const Volumes& v, int planes) {
  return static_cast<std::int64_t>(planes) * v.height * v.width;
}

// --- y = w * x

constexpr int made_depth = 4, made_height = 8, made_threads = 256, rows_of_warp = 4;

// Weights as [step][output][16], what a step multiplies. Of the gradient's convolution: taps in reverse
// order, and inputs and outputs change places.
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
    narrow_convolution(Volumes v, Tiles<made_depth, made_height> tiles, const T* x, const T* weights,
                       const float* bias, const T* start, T* y) {
  constexpr int height = made_height + 2, width = tile_width + 2, halves = channels / 8;
  constexpr int box = (made_depth + 2) * height * width * halves, steps = steps_of_all<channels>;
  __shared__ Bytes16 shared_x[box + 1], shared_w[steps * outputs * 2];
  const Tile tile = tiles.at(blockIdx.x);
  copy_box<channels, made_depth + 2, height, width>(
      reinterpret_cast<const Bytes16*>(x) + tile.sample * voxels_of_sample(v, v.planes_read) * halves,
      v.planes_read, v, tile.z - v.before, tile.y - 1, tile.x - 1, shared_x);
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
        // A row that is read goes into up to three rows that are made.
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
      const std::int64_t voxel = tile.sample * voxels_of_sample(v, v.planes) +
                                 (static_cast<std::int64_t>(at_z) * v.height + at_y) * v.width + at_x;
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

// --- dw, of x and dy

constexpr int read_depth = 4, read_height = 4, read_threads = 9 * 32;
constexpr std::int64_t most_parts = 512;  // blocks, each of which has a sum for every weight

// A warp for each tap of a plane; the steps are those of a row.
template <class T, int channels>
__global__ void __launch_bounds__(read_threads, 3)
    narrow_weight_gradient_of_blocks(Volumes v, Tiles<read_depth, read_height> tiles, const T* x, const T* dy,
                                     float* parts) {
  constexpr int height = read_height + 2, width = tile_width + (channels == 16 ? 2 : 3),
                halves = channels / 8;
  __shared__ Bytes16 shared_x[(read_depth + 2) * height * width * halves];
  __shared__ Bytes16 shared_dy[read_depth * read_height * tile_width * 2];
  const int warp = static_cast<int>(threadIdx.x) / 32, dz = warp / 3, tap_y = warp % 3;
  const auto elements = [](const Bytes16* shared, int at) { return reinterpret_cast<const T*>(shared + at); };
  SumMatrix sums[steps_of_row<channels>];
  for (std::int64_t index = blockIdx.x; index < tiles.count; index += gridDim.x) {
    const Tile tile = tiles.at(index);
    __syncthreads();
    copy_box<channels, read_depth + 2, height, width>(
        reinterpret_cast<const Bytes16*>(x) + tile.sample * voxels_of_sample(v, v.planes_read) * halves,
        v.planes_read, v, tile.z - v.before, tile.y - 1, tile.x - 1, shared_x);
    copy_box<outputs, read_depth, read_height, tile_width>(
        reinterpret_cast<const Bytes16*>(dy) + tile.sample * voxels_of_sample(v, v.planes) * 2, v.planes, v,
        tile.z, tile.y, tile.x, shared_dy);
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
  float* const own = parts + static_cast<std::int64_t>(blockIdx.x) * outputs * channels * 27;
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

// --- kernels of nodes

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

Volumes volumes_of(const Shape& read, const Shape& other, std::int64_t before) {
  return {static_cast<int>(read[1]), static_cast<int>(other[1]), static_cast<int>(other[2]),
          static_cast<int>(other[3]), static_cast<int>(before)};
}

constexpr const char* implementation = "own kernel, tensor cores";

// A convolution of `read`, which makes `made`. `start`, `bias`: which of a node's inputs they are; 0: none.
std::unique_ptr<Kernel> make_convolution(const Shape& read, const Shape& made, std::int64_t before,
                                         ElementType type, bool of_gradient, std::size_t bias,
                                         std::size_t start) {
  const std::int64_t channels = read[4];
  const int count = static_cast<int>(channels == 16 ? steps_of_all<16> : steps_of_all<8>) * outputs * 16;
  const Volumes volumes = volumes_of(read, made, before);
  const Tiles<made_depth, made_height> tiles(volumes, read[0]);
  WorkspacePlan plan;
  const std::int64_t packed = plan.book(count * element_bytes(type));
  return make_function_kernel(
      [=](const KernelArguments& arguments) {
        for_narrow(type, channels, [&]<class T, int width>() {
          T* const weights = WorkspacePlan::at<T>(arguments, packed);
          launch("pack_steps", pack_steps<T>, blocks_for(count), block_threads, count, width, of_gradient,
                 input<float>(arguments, 1), weights);
          launch("narrow_convolution", narrow_convolution<T, width>, dim3(static_cast<unsigned>(tiles.count)),
                 made_threads, volumes, tiles, input<T>(arguments, 0), weights,
                 bias == 0 ? nullptr : input<float>(arguments, bias),
                 start == 0 ? nullptr : input<T>(arguments, start), output<T>(arguments));
        });
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
  const Tiles<made_depth, made_height> tiles(volumes_of(read, other, 0), read[0]);
  return padded(problem.axes[1]) && padded(problem.axes[2]) && tiles.count <= std::numeric_limits<int>::max();
}

std::unique_ptr<Kernel> narrow_forward(const ConvolutionProblem& problem) {
  using Start = ConvolutionProblem::Start;
  return make_convolution(problem.x, problem.y, problem.axes[0].before, problem.type, /*of_gradient=*/false,
                          problem.start == Start::bias ? 2 : 0, problem.start == Start::sum ? 2 : 0);
}

std::unique_ptr<Kernel> narrow_data_gradient(const ConvolutionProblem& problem, bool bias) {
  return make_convolution(problem.y, problem.x, 2 - problem.axes[0].before, problem.type,
                          /*of_gradient=*/true, bias ? 2 : 0, 0);
}

std::unique_ptr<Kernel> narrow_weight_gradient(const ConvolutionProblem& problem, bool bias, Device& device) {
  const std::int64_t channels = problem.x[4], count = outputs * channels * 27,
                     voxels = problem.y.count() / outputs;
  const Volumes volumes = volumes_of(problem.x, problem.y, problem.axes[0].before);
  const Tiles<read_depth, read_height> tiles(volumes, problem.x[0]);
  const std::int64_t blocks = std::min(tiles.count, most_parts);
  const ElementType type = problem.type;
  WorkspacePlan plan;
  const std::int64_t parts = plan.book(blocks * count * static_cast<std::int64_t>(sizeof(float)));
  const std::int64_t sums = bias ? plan.book(channel_sums_workspace(type, voxels, outputs, device)) : 0;
  return make_function_kernel(
      [=, &device](const KernelArguments& arguments) {
        float* const written = WorkspacePlan::at<float>(arguments, parts);
        for_narrow(type, channels, [&]<class T, int width>() {
          launch("narrow_weight_gradient", narrow_weight_gradient_of_blocks<T, width>,
                 dim3(static_cast<unsigned>(blocks)), read_threads, volumes, tiles, input<T>(arguments, 0),
                 input<T>(arguments, 1), written);
        });
        add_parts(written, blocks, count, output<float>(arguments));
        if (bias)
          channel_sums(arguments.inputs[1], output<float>(arguments, 1), type, voxels, outputs,
                       WorkspacePlan::at<void>(arguments, sums), device);
      },
      plan.bytes(), implementation);
}

}  // namespace voxswap::net::cuda
