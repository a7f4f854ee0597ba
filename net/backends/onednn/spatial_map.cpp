// Spatial augmentation (net/ops/spatial_map.cpp), plane by plane. A row's positions come first, in loops that
// the compiler vectorises, then the eight voxels around each. The channels of a voxel are contiguous and
// share both.
#include <algorithm>
#include <cstring>

#include "base/cubic_spline.h"
#include "net/backends/onednn/kernels.h"
#include "net/backends/onednn/passes.h"
#include "net/graph/drawn_numbers.h"
#include "net/graph/graph.h"

namespace voxswap::net::onednn {

namespace {

// The sides of the result.
struct Grid {
  std::int64_t width = 0, height = 0, depth = 0;
  explicit Grid(const Shape& shape) : width(shape[3]), height(shape[2]), depth(shape[1]) {}
  std::int64_t plane() const { return width * height; }
  std::int64_t voxels() const { return plane() * depth; }
  std::int64_t side(int axis) const { return axis == 0 ? width : axis == 1 ? height : depth; }
};

// The drawn map of one sample.
struct Map {
  Grid grid;
  const double* space;
  drawn::Box box;                        // of the case
  const float* displacements = nullptr;  // null without deformation
  std::int64_t most_controls = 0;
  std::int64_t controls[3] = {};

  Map(const Grid& of, const KernelArguments& arguments, std::size_t controls_at, std::int64_t most)
      : grid(of), space(input<double>(arguments, 1)), box(drawn::box_of(space)), most_controls(most) {
    for (int k = 0; k < 3; ++k) controls[k] = static_cast<std::int64_t>(space[drawn::controls + k]);
    if (most > 0 && controls[0] > 0) displacements = input<float>(arguments, controls_at);
  }
  double offset(int k) const { return space[drawn::offset + k]; }
  double index(int k, int j) const { return space[drawn::index + 3 * k + j]; }
  double along(int k, int j) const { return space[drawn::along + 3 * k + j]; }
};

// A map that takes voxels to voxels: voxel x, y, z reads first + x step[0] + y step[1] + z step[2].
struct Permutation {
  bool exact = false;
  std::int64_t first = 0, step[3] = {};

  explicit Permutation(const Map& map) : first(map.box.first) {
    if (map.displacements != nullptr) return;
    for (int k = 0; k < 3; ++k) {
      const double last = static_cast<double>(map.grid.side(k) - 1);
      double from = map.offset(k), to = from;  // the range of positions
      int moves = 0;
      for (int j = 0; j < 3; ++j) {
        const double step_of = map.index(k, j);
        if (step_of == 0) continue;
        if (step_of != 1 && step_of != -1) return;
        ++moves;
        to += step_of * static_cast<double>(map.grid.side(j) - 1);
        step[j] += static_cast<std::int64_t>(step_of) * map.box.step[k];
      }
      const auto whole = static_cast<std::int64_t>(from);
      if (moves != 1 || static_cast<double>(whole) != from || std::min(from, to) != 0 ||
          std::max(from, to) != last)
        return;
      first += whole * map.box.step[k];
    }
    exact = true;
  }
};

// Scratch of one plane.
struct Row {
  std::int32_t* cell[3];  // the lower corner of the cell around the position
  float* part[3];         // the position within the cell
  float* moved[3];        // displacement, mm
  std::int32_t* control;  // the first of the four control points along x, and their weights
  float* weight[4];
  float* collapsed;  // the control points of one axis, summed along y and z

  static std::int64_t bytes(const Grid& grid, std::int64_t most_controls) {
    return (14 * grid.width + most_controls / 16) * 4 + 64;
  }
  Row(std::byte* place, const Grid& grid) {
    auto* next = reinterpret_cast<float*>(place);
    const auto take = [&] {
      float* const here = next;
      next += grid.width;
      return here;
    };
    for (int k = 0; k < 3; ++k) {
      cell[k] = reinterpret_cast<std::int32_t*>(take());
      part[k] = take();
      moved[k] = take();
    }
    control = reinterpret_cast<std::int32_t*>(take());
    for (float*& one : weight) one = take();
    collapsed = next;
  }

  VOXSWAP_INLINE void start_plane(const Map& map) const {
    if (map.displacements == nullptr) return;
    for (std::int64_t x = 0; x < map.grid.width; ++x) {
      const auto around =
          cubic_weights<float>(static_cast<double>(x) * map.space[drawn::grid_step], map.controls[0]);
      control[x] = static_cast<std::int32_t>(around.first);
      for (int i = 0; i < 4; ++i) weight[i][x] = around.weight[i];
    }
  }

  VOXSWAP_INLINE void displace(const Map& map, std::int64_t y, std::int64_t z) const {
    const auto in_y = cubic_weights<float>(static_cast<double>(y) * map.space[drawn::grid_step + 1],
                                           map.controls[1]),
               in_z = cubic_weights<float>(static_cast<double>(z) * map.space[drawn::grid_step + 2],
                                           map.controls[2]);
    for (int axis = 0; axis < 3; ++axis) {
      const float* const own = map.displacements + axis * map.most_controls;
      for (std::int64_t i = 0; i < map.controls[0]; ++i) collapsed[i] = 0;
      for (int k = 0; k < 4; ++k)
        for (int j = 0; j < 4; ++j) {
          const float share = in_z.weight[k] * in_y.weight[j];
          const float* const from =
              own + ((in_z.first + k) * map.controls[1] + in_y.first + j) * map.controls[0];
          for (std::int64_t i = 0; i < map.controls[0]; ++i) collapsed[i] += share * from[i];
        }
      for (std::int64_t x = 0; x < map.grid.width; ++x) {
        const float* const near = collapsed + control[x];
        moved[axis][x] =
            weight[0][x] * near[0] + weight[1][x] * near[1] + weight[2][x] * near[2] + weight[3][x] * near[3];
      }
    }
  }

  VOXSWAP_INLINE void locate(const Map& map, std::int64_t y, std::int64_t z) const {
    if (map.displacements != nullptr) displace(map, y, z);
    const auto height = static_cast<double>(y), depth = static_cast<double>(z);
    for (int k = 0; k < 3; ++k) {
      const auto first =
          static_cast<float>(map.offset(k) + map.index(k, 1) * height + map.index(k, 2) * depth);
      const auto step = static_cast<float>(map.index(k, 0));
      float* const position = part[k];
      for (std::int64_t x = 0; x < map.grid.width; ++x)
        position[x] = first + step * static_cast<float>(static_cast<std::int32_t>(x));
      for (int j = 0; j < 3 && map.displacements != nullptr; ++j) {
        const auto factor = static_cast<float>(map.along(k, j));
        for (std::int64_t x = 0; x < map.grid.width; ++x) position[x] += factor * moved[j][x];
      }
      const auto last = static_cast<float>(map.grid.side(k) - 1);
      const auto last_cell = static_cast<std::int32_t>(std::max<std::int64_t>(map.grid.side(k) - 2, 0));
      for (std::int64_t x = 0; x < map.grid.width; ++x) {
        float clamped = position[x] > 0.0f ? position[x] : 0.0f;
        clamped = clamped < last ? clamped : last;
        const auto floor = static_cast<std::int32_t>(clamped);
        cell[k][x] = floor < last_cell ? floor : last_cell;
        position[x] = clamped - static_cast<float>(cell[k][x]);
      }
    }
  }
  // The lower corner of a cell, in the case.
  VOXSWAP_INLINE std::int64_t voxel(const drawn::Box& box, std::int64_t x) const {
    return box.first + cell[2][x] * box.step[2] + cell[1][x] * box.step[1] + cell[0][x];
  }
};

// Steps from a voxel to its neighbours in a cell: 0 along axes of one voxel.
struct Neighbours {
  std::int64_t right, below, behind;
  Neighbours(const Map& map, std::int64_t values)
      : right(map.grid.width > 1 ? values : 0),
        below(map.grid.height > 1 ? map.box.step[1] * values : 0),
        behind(map.grid.depth > 1 ? map.box.step[2] * values : 0) {}
};

// The channels of a voxel as a vector.
template <int C>
struct Channels;
template <>
struct Channels<2> {
  using Lanes = float __attribute__((vector_size(8)));
};
template <>
struct Channels<4> {
  using Lanes = float __attribute__((vector_size(16)));
};

// C channels, or any number for C = 0. Both ends of a cell are weighted, so that a position exactly on a
// voxel returns that voxel bit for bit.
template <int C>
struct MapPlanes {
  Map map;
  Permutation permutation;
  const float* x;
  float* y;
  const double* numbers;
  std::int64_t channels;
  std::int64_t between;  // from a channel of a voxel of y to the next
  std::byte* scratch;
  std::int64_t scratch_bytes;

  VOXSWAP_INLINE std::int64_t count() const { return C > 0 ? C : channels; }
  VOXSWAP_INLINE std::int64_t step() const { return between == 1 ? count() : 1; }  // to the next voxel of y

  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    const Grid grid = map.grid;
    for (std::int64_t z = begin; z < end; ++z) {
      const Row row(scratch + z * scratch_bytes, grid);
      if (!permutation.exact) row.start_plane(map);
      for (std::int64_t line = 0; line < grid.height; ++line) {
        float* const to = y + (z * grid.plane() + line * grid.width) * step();
        if (permutation.exact) {
          copy_row(permutation.first + line * permutation.step[1] + z * permutation.step[2], to);
        } else {
          row.locate(map, line, z);
          interpolate_row(row, to);
        }
      }
      for (std::int64_t c = 0; c < count(); ++c)
        if (numbers[c * drawn::channel_numbers + drawn::kept] == 0)
          for (std::int64_t v = 0; v < grid.plane(); ++v)
            y[c * between + (z * grid.plane() + v) * step()] = 0;
    }
  }

 private:
  VOXSWAP_INLINE void copy_row(std::int64_t first, float* to) const {
    for (std::int64_t v = 0; v < map.grid.width; ++v, to += step()) {
      const float* const from = x + (first + v * permutation.step[0]) * count();
      for (std::int64_t c = 0; c < count(); ++c) to[c * between] = from[c];
    }
  }
  VOXSWAP_INLINE void interpolate_row(const Row& row, float* to) const {
    const Neighbours next(map, count());
    for (std::int64_t v = 0; v < map.grid.width; ++v, to += step()) {
      const float* const near = x + row.voxel(map.box, v) * count();
      const float* const far = near + next.behind;
      const float u = row.part[0][v], t = row.part[1][v], w = row.part[2][v];
      if constexpr (C > 1) {
        const auto value = at_position<typename Channels<C>::Lanes>(near, far, next, u, t, w);
        for (int c = 0; c < C; ++c) to[c * between] = value[c];
      } else {
        for (std::int64_t c = 0; c < count(); ++c)
          to[c * between] = at_position<float>(near + c, far + c, next, u, t, w);
      }
    }
  }
  // Linear between the eight voxels from `near` and, one plane behind, from `far`.
  template <class V>
  static VOXSWAP_INLINE V at_position(const float* near, const float* far, const Neighbours& next, float u,
                                      float t, float w) {
    const float u0 = 1 - u, t0 = 1 - t, w0 = 1 - w;
    const V a = load<V>(near) * u0 + load<V>(near + next.right) * u;
    const V b = load<V>(near + next.below) * u0 + load<V>(near + next.below + next.right) * u;
    const V d = load<V>(far) * u0 + load<V>(far + next.right) * u;
    const V e = load<V>(far + next.below) * u0 + load<V>(far + next.below + next.right) * u;
    return (a * t0 + b * t) * w0 + (d * t0 + e * t) * w;
  }
};

using Label = std::uint16_t;

// For each cell of the box, at its lower corner: whether all eight corners have the same label. Most have, so
// that one look-up suffices.
struct FindUniform {
  const Map& map;
  const Label* labels;
  std::uint8_t* uniform;

  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    const Grid& grid = map.grid;
    const Neighbours next(map, 1);
    for (std::int64_t z = begin; z < end; ++z)
      for (std::int64_t y = 0; y < std::max<std::int64_t>(grid.height - 1, 1); ++y) {
        const Label* const a = labels + map.box.first + z * map.box.step[2] + y * map.box.step[1];
        const Label *const b = a + next.below, *const c = a + next.behind, *const d = c + next.below;
        std::uint8_t* const to = uniform + z * grid.plane() + y * grid.width;
        for (std::int64_t x = 0; x + next.right < grid.width; ++x) {
          const Label label = a[x];
          const std::int64_t right = x + next.right;
          const int differs = (a[right] ^ label) | (b[x] ^ label) | (b[right] ^ label) | (c[x] ^ label) |
                              (c[right] ^ label) | (d[x] ^ label) | (d[right] ^ label);
          to[x] = differs == 0;
        }
      }
  }
};

struct MapLabels {
  Map map;
  Permutation permutation;
  const Label* labels;
  Label* result;
  const std::uint8_t* uniform;
  std::byte* scratch;
  std::int64_t scratch_bytes;

  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    const Grid grid = map.grid;
    const Neighbours next(map, 1);
    for (std::int64_t z = begin; z < end; ++z) {
      const Row row(scratch + z * scratch_bytes, grid);
      if (!permutation.exact) row.start_plane(map);
      for (std::int64_t y = 0; y < grid.height; ++y) {
        Label* const to = result + z * grid.plane() + y * grid.width;
        if (permutation.exact) {
          const std::int64_t first = permutation.first + y * permutation.step[1] + z * permutation.step[2];
          for (std::int64_t x = 0; x < grid.width; ++x) to[x] = labels[first + x * permutation.step[0]];
          continue;
        }
        row.locate(map, y, z);
        for (std::int64_t x = 0; x < grid.width; ++x) {
          const std::int64_t at = row.voxel(map.box, x);
          const std::int64_t here =
              row.cell[2][x] * grid.plane() + row.cell[1][x] * grid.width + row.cell[0][x];
          to[x] = uniform[here] ? labels[at]
                                : largest(labels + at, next, row.part[0][x], row.part[1][x], row.part[2][x]);
        }
      }
    }
  }

 private:
  static VOXSWAP_INLINE Label largest(const Label* at, const Neighbours& next, float u, float t, float w) {
    Label corners[8];
    float weights[8];
    for (int i = 0; i < 8; ++i) {
      corners[i] = at[(i & 1 ? next.right : 0) + (i & 2 ? next.below : 0) + (i & 4 ? next.behind : 0)];
      weights[i] = (i & 1 ? u : 1 - u) * (i & 2 ? t : 1 - t) * (i & 4 ? w : 1 - w);
    }
    Label best = corners[0];
    float most = -1;
    for (int i = 0; i < 8; ++i) {
      float sum = 0;
      for (int j = 0; j < 8; ++j) sum += corners[j] == corners[i] ? weights[j] : 0.0f;
      best = sum > most ? corners[i] : best;
      most = sum > most ? sum : most;
    }
    return best;
  }
};

std::int64_t most_controls(const Graph& graph, const Node& node, std::size_t at) {
  return node.inputs.size() > at ? input_shape(graph, node, at)[1] : 0;
}

}  // namespace

std::unique_ptr<Kernel> make_spatial_map(const Graph& graph, const Node& node) {
  const Grid grid(output_shape(graph, node));
  const std::int64_t channels = input_shape(graph, node)[1], most = most_controls(graph, node, 3);
  const std::int64_t between = node.attributes.flag("apart") ? grid.voxels() : 1;
  const std::int64_t scratch = (Row::bytes(grid, most) + 63) / 64 * 64;
  const auto run = [=](const KernelArguments& arguments, auto number) {
    const Map map(grid, arguments, 3, most);
    parallel(grid.depth, 1,
             MapPlanes<decltype(number)::value>{map, Permutation(map), input<float>(arguments, 0),
                                                output<float>(arguments), input<double>(arguments, 2),
                                                channels, between, place<std::byte>(arguments, 0), scratch});
  };
  return make_pass(
      [=](const KernelArguments& arguments) {
        if (channels == 1) return run(arguments, std::integral_constant<int, 1>());
        if (channels == 2) return run(arguments, std::integral_constant<int, 2>());
        if (channels == 4) return run(arguments, std::integral_constant<int, 4>());
        run(arguments, std::integral_constant<int, 0>());
      },
      grid.depth * scratch);
}

std::unique_ptr<Kernel> make_spatial_map_labels(const Graph& graph, const Node& node) {
  const Grid grid(output_shape(graph, node));
  const std::int64_t most = most_controls(graph, node, 2);
  const std::int64_t scratch = (Row::bytes(grid, most) + 63) / 64 * 64;
  WorkspacePlan plan;
  const std::int64_t rows = plan.book(grid.depth * scratch), uniform = plan.book(grid.voxels());
  return make_pass(
      [=](const KernelArguments& arguments) {
        const Map map(grid, arguments, 2, most);
        const Permutation permutation(map);
        const auto* labels = input<Label>(arguments, 0);
        auto* cells = place<std::uint8_t>(arguments, uniform);
        if (!permutation.exact)
          parallel(std::max<std::int64_t>(grid.depth - 1, 1), 1, FindUniform{map, labels, cells});
        parallel(grid.depth, 1,
                 MapLabels{map, permutation, labels, output<Label>(arguments), cells,
                           place<std::byte>(arguments, rows), scratch});
      },
      plan.bytes());
}

}  // namespace voxswap::net::onednn
