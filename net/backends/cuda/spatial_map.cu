// Spatial augmentation (net/ops/spatial_map.cpp), one thread per voxel.
#include "base/cubic_spline.h"
#include "net/backends/cuda/kernels.h"
#include "net/backends/cuda/launch.cuh"
#include "net/graph/drawn_numbers.h"

namespace voxswap::net::cuda {

namespace {

// The sides of the result.
struct Grid {
  std::int64_t width, height, depth;
  __host__ __device__ std::int64_t voxels() const { return width * height * depth; }
};
Grid grid_of(const Shape& shape) {
  return {shape[3], shape[2], shape[1]};
}

// The displacement in mm along x, y, z of a voxel.
__device__ void displace(const double* space, const float* controls, std::int64_t most,
                         const std::int64_t (&at)[3], float (&moved)[3]) {
  std::int64_t count[3];
  CubicWeights<float> around[3];
  for (int k = 0; k < 3; ++k) {
    count[k] = static_cast<std::int64_t>(space[drawn::controls + k]);
    around[k] = cubic_weights<float>(static_cast<double>(at[k]) * space[drawn::grid_step + k], count[k]);
  }
  for (int z = 0; z < 4; ++z)
    for (int y = 0; y < 4; ++y) {
      const float share = around[2].weight[z] * around[1].weight[y];
      const float* from =
          controls + ((around[2].first + z) * count[1] + around[1].first + y) * count[0] + around[0].first;
      for (int axis = 0; axis < 3; ++axis)
        for (int x = 0; x < 4; ++x) moved[axis] += share * around[0].weight[x] * from[axis * most + x];
    }
}

// The cell around the position that a voxel reads: its lower corner in the case, the steps to its other
// corners, and the position within it.
struct Cell {
  std::int64_t voxel;
  std::int64_t step[3];
  float part[3];

  __device__ Cell(const Grid& grid, const double* space, const float* controls, std::int64_t most,
                  std::int64_t number) {
    const std::int64_t side[3] = {grid.width, grid.height, grid.depth};
    const drawn::Box box = drawn::box_of(space);
    std::int64_t at[3];
    std::int64_t rest = number;
    at[0] = take_axis(rest, grid.width);
    at[1] = take_axis(rest, grid.height);
    at[2] = rest;
    float moved[3] = {};
    if (controls != nullptr && space[drawn::controls] > 0) displace(space, controls, most, at, moved);
    voxel = box.first;
    for (int k = 0; k < 3; ++k) {
      const double* index = space + drawn::index + 3 * k;
      const double* along = space + drawn::along + 3 * k;
      const auto exact =
          static_cast<float>(space[drawn::offset + k] + index[0] * static_cast<double>(at[0]) +
                             index[1] * static_cast<double>(at[1]) + index[2] * static_cast<double>(at[2]));
      float position = exact;
      for (int j = 0; j < 3; ++j) position += static_cast<float>(along[j]) * moved[j];
      const auto last = static_cast<float>(side[k] - 1);
      position = position > 0 ? position : 0;
      position = position < last ? position : last;
      const std::int64_t last_cell = side[k] > 1 ? side[k] - 2 : 0;
      std::int64_t cell = static_cast<std::int64_t>(position);
      cell = cell < last_cell ? cell : last_cell;
      part[k] = position - static_cast<float>(cell);
      voxel += cell * box.step[k];
      step[k] = side[k] > 1 ? box.step[k] : 0;
    }
  }
  __device__ std::int64_t corner(int i) const {
    return voxel + (i & 1 ? step[0] : 0) + (i & 2 ? step[1] : 0) + (i & 4 ? step[2] : 0);
  }
  __device__ float weight(int i) const {
    return (i & 1 ? part[0] : 1 - part[0]) * (i & 2 ? part[1] : 1 - part[1]) *
           (i & 4 ? part[2] : 1 - part[2]);
  }
};

__global__ void map_image(Grid grid, std::int64_t channels, const float* x, const double* space,
                          const double* numbers, const float* controls, std::int64_t most, bool apart,
                          float* y) {
  const std::int64_t voxel = index_of_thread();
  if (voxel >= grid.voxels()) return;
  const Cell cell(grid, space, controls, most, voxel);
  for (std::int64_t c = 0; c < channels; ++c) {
    float sum = 0;
    if (numbers[c * drawn::channel_numbers + drawn::kept] != 0)
      for (int i = 0; i < 8; ++i) sum += cell.weight(i) * x[cell.corner(i) * channels + c];
    y[apart ? c * grid.voxels() + voxel : voxel * channels + c] = sum;
  }
}

__global__ void map_labels(Grid grid, const std::uint16_t* labels, const double* space, const float* controls,
                           std::int64_t most, std::uint16_t* result) {
  const std::int64_t voxel = index_of_thread();
  if (voxel >= grid.voxels()) return;
  const Cell cell(grid, space, controls, most, voxel);
  std::uint16_t best = 0;
  float largest = -1;
  for (int i = 0; i < 8; ++i) {
    const std::uint16_t label = labels[cell.corner(i)];
    float sum = 0;
    for (int j = 0; j < 8; ++j) sum += labels[cell.corner(j)] == label ? cell.weight(j) : 0;
    if (sum <= largest) continue;
    largest = sum;
    best = label;
  }
  result[voxel] = best;
}

// The control points of a node, if it has them at this input.
struct ControlPoints {
  std::size_t at;
  std::int64_t most;
  ControlPoints(const Graph& graph, const Node& node, std::size_t input)
      : at(input), most(node.inputs.size() > input ? input_shape(graph, node, input)[1] : 0) {}
  const float* of(const KernelArguments& arguments) const {
    return most > 0 ? input<float>(arguments, at) : nullptr;
  }
};

}  // namespace

std::unique_ptr<Kernel> make_spatial_map(const Graph& graph, const Node& node, Device&) {
  need_f32(node.name, input_type(graph, node));
  const Grid grid = grid_of(output_shape(graph, node));
  const std::int64_t channels = input_shape(graph, node)[1];
  const ControlPoints controls(graph, node, 3);
  const bool apart = node.attributes.flag("apart");
  return make_own([=](const KernelArguments& arguments) {
    launch("spatial_map", map_image, blocks_for(grid.voxels()), block_threads, grid, channels,
           input<float>(arguments, 0), input<double>(arguments, 1), input<double>(arguments, 2),
           controls.of(arguments), controls.most, apart, output<float>(arguments));
  });
}

std::unique_ptr<Kernel> make_spatial_map_labels(const Graph& graph, const Node& node, Device&) {
  const Grid grid = grid_of(output_shape(graph, node));
  const ControlPoints controls(graph, node, 2);
  return make_own([=](const KernelArguments& arguments) {
    launch("spatial_map_labels", map_labels, blocks_for(grid.voxels()), block_threads, grid,
           input<std::uint16_t>(arguments, 0), input<double>(arguments, 1), controls.of(arguments),
           controls.most, output<std::uint16_t>(arguments));
  });
}

}  // namespace voxswap::net::cuda
