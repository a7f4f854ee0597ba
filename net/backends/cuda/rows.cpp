#include "net/backends/cuda/rows.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace voxswap::net::cuda {

namespace {

std::int64_t divided_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

}  // namespace

Rows cut_rows(const Device& device, std::int64_t samples, std::int64_t voxels, std::int64_t channels,
              int full_width, Division division) {
  assert(samples > 0 && voxels > 0 && channels > 0);
  Rows rows;
  rows.samples = samples;
  rows.channels = static_cast<int>(channels);
  rows.width = voxels * channels % full_width == 0 ? full_width : 1;
  rows.vectors = voxels * channels / rows.width;
  rows.row = static_cast<int>(channels / std::gcd(channels, std::int64_t{rows.width}));
  rows.parts = static_cast<int>(divided_up(rows.row, block_threads));
  rows.phases = static_cast<int>(divided_up(rows.row, rows.parts));
  rows.groups = block_threads / rows.phases;
  // Rounds in which one block would process the sample.
  const std::int64_t rounds = divided_up(divided_up(rows.vectors, rows.row), rows.groups);
  const std::int64_t each = std::clamp(rounds * rows.parts * samples * division.blocks / device.enough_blocks,
                                       std::int64_t{1}, division.most_rows);
  rows.chunks = divided_up(rounds, each);
  return rows;
}

Rows cut_rows(const Device& device, const Shape& shape, int full_width, Division division) {
  return cut_rows(device, shape[0], shape[1] * shape[2] * shape[3], shape[4], full_width, division);
}

Rows cut_planes(const Device& device, const Shape& shape, int full_width, Division division) {
  Rows rows = cut_rows(device, shape[0] * shape[1], shape[2] * shape[3], shape[4], full_width, division);
  rows.sharing = static_cast<int>(shape[1]);
  return rows;
}

Rows cut_flat(const Device& device, std::int64_t count, int full_width) {
  const std::int64_t vectors = std::max<std::int64_t>(1, count / full_width);
  Rows rows = cut_rows(device, 1, vectors, full_width, full_width, of_a_map);
  rows.vectors = count / full_width;
  return rows;
}

}  // namespace voxswap::net::cuda
