// Cases of spatial augmentation (net/ops/spatial_map.cpp).
#include <cmath>

#include "base/voxel_grid.h"
#include "net/graph/drawn_numbers.h"
#include "tests/conformance/cases/cases.h"

namespace voxswap::net::cases {

namespace {

// A map for a result of these sides (N,D,H,W,C): about its centre, with `turned` radians in each plane.
std::vector<double> about_centre(const Shape& grid, double turned, double factor) {
  std::vector<double> space(drawn::space_numbers, 0.0);
  const double c = std::cos(turned) / factor, s = std::sin(turned) / factor;
  const double index[9] = {c, s, 0, -s, c, 0.05 * s, 0, 0.05 * s, 1 / factor};
  for (int k = 0; k < 3; ++k) {
    space[static_cast<std::size_t>(drawn::offset + k)] = static_cast<double>(grid[3 - k] - 1) / 2;
    for (int j = 0; j < 3; ++j) {
      const double step = index[3 * k + j];
      space[static_cast<std::size_t>(drawn::index + 3 * k + j)] = step;
      space[static_cast<std::size_t>(drawn::along + 3 * k + j)] = 0.9 * step;
      space[static_cast<std::size_t>(drawn::offset + k)] -= step * static_cast<double>(grid[3 - j] - 1) / 2;
    }
    space[static_cast<std::size_t>(drawn::grid_step + k)] = 0.3;
  }
  return space;
}

std::vector<double> identity(const Shape& grid) {
  return about_centre(grid, 0, 1);
}

// Backwards along x, with y and z exchanged. REQUIRES: D = H.
std::vector<double> turned_round(const Shape& grid) {
  std::vector<double> space(drawn::space_numbers, 0.0);
  space[drawn::offset] = static_cast<double>(grid[3] - 1);
  space[drawn::index] = -1;
  space[drawn::index + 5] = space[drawn::index + 7] = 1;
  return space;
}

std::vector<double> with_controls(std::vector<double> space, const Shape& grid) {
  for (int k = 0; k < 3; ++k)
    space[static_cast<std::size_t>(drawn::controls + k)] =
        std::ceil(0.3 * static_cast<double>(grid[3 - k] - 1)) + 3;
  return space;
}

// `dropped`: a channel that is not kept, or none.
Input channels(std::int64_t count, std::int64_t dropped = none) {
  std::vector<double> values(static_cast<std::size_t>(count * drawn::channel_numbers), 1.0);
  if (dropped != none) values[static_cast<std::size_t>(dropped * drawn::channel_numbers + drawn::kept)] = 0;
  return numbers({count, drawn::channel_numbers}, values);
}

constexpr std::int64_t most_controls = 400;

// The result's sides (N,D,H,W,C) as a box inside a larger case, with other voxels before and behind it in
// memory.
struct InCase {
  static constexpr std::int64_t before = 11;
  Size3 sides, start;
  std::int64_t voxels;

  explicit InCase(const Shape& result) {
    const bool flat = result[1] == 1;
    sides = {result[3] + 2, result[2] + 3, flat ? 1 : result[1] + 2};
    start = {1, 2, flat ? 0 : 1};
    voxels = before + sides[0] * sides[1] * sides[2] + 5;
  }
  Input add_to(std::vector<double> space) const {
    space[drawn::memory] = before;
    for (std::size_t k = 0; k < 3; ++k) {
      space[drawn::sides + k] = static_cast<double>(sides[k]);
      space[drawn::start + k] = static_cast<double>(start[k]);
    }
    return numbers({drawn::space_numbers}, space);
  }
};

Attributes sides_of(const Shape& result) {
  return {{"d", double(result[1])}, {"h", double(result[2])}, {"w", double(result[3])}};
}

OperationCase of_image(std::string name, const Shape& y, const std::vector<double>& space, bool apart,
                       std::int64_t dropped = none) {
  const InCase in(y);
  Attributes attributes = sides_of(y);
  attributes.set("apart", apart ? 1 : 0);
  OperationCase result{
      std::move(name), {full({in.voxels, y[4]}), in.add_to(space), channels(y[4], dropped)}, attributes, {}};
  if (space[drawn::controls] > 0) result.inputs.push_back(full({3, most_controls}));
  return result;
}

OperationCase of_labels(std::string name, const Shape& y, const std::vector<double>& space, bool few) {
  const InCase in(y);
  const Shape memory{in.voxels, 2};
  OperationCase result{
      std::move(name), {few ? classes(memory) : bits(memory), in.add_to(space)}, sides_of(y), {}};
  if (space[drawn::controls] > 0) result.inputs.push_back(full({3, most_controls}));
  return result;
}

}  // namespace

Cases spatial_map() {
  const Shape four{1, 6, 7, 9, 4}, three{1, 5, 6, 19, 3}, flat{1, 1, 7, 8, 1}, cube{1, 5, 5, 8, 2};
  return {of_image("four channels apart", four, about_centre(four, 0.4, 1.2), true),
          of_image("three channels, elastic, one dropped", three,
                   with_controls(about_centre(three, -0.3, 0.8), three), false, 1),
          of_image("elastic, apart", three, with_controls(about_centre(three, 0.2, 1), three), true),
          of_image("a flat image", flat, about_centre(flat, 0.5, 1), false),
          of_image("a symmetry", cube, turned_round(cube), true),
          of_image("a symmetry, one channel dropped", cube, turned_round(cube), false, 0),
          of_image("without a change", four, identity(four), true)};
}

Cases spatial_map_labels() {
  const Shape small{1, 6, 7, 9, 2}, elastic{1, 5, 6, 19, 2}, cube{1, 5, 5, 8, 2}, flat{1, 1, 7, 8, 2};
  return {of_labels("few labels", small, about_centre(small, 0.4, 1.2), true),
          of_labels("labels of two bytes", small, about_centre(small, -0.7, 0.9), false),
          of_labels("elastic", elastic, with_controls(about_centre(elastic, 0.2, 1), elastic), true),
          of_labels("a flat image", flat, about_centre(flat, 0.5, 1), true),
          of_labels("a symmetry", cube, turned_round(cube), false),
          of_labels("without a change", small, identity(small), false)};
}

}  // namespace voxswap::net::cases
