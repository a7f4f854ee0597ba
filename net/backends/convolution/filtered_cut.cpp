#include "net/backends/convolution/filtered_cut.h"

#include <algorithm>

#include "net/backends/convolution/volume_cut.h"

namespace voxswap::net::convolution {

namespace {

constexpr std::int64_t near_weights = 256 << 10;  // bytes of weights that stay in a core's second cache
constexpr std::int64_t usual_rows = 8,
                       usual_planes = 16;  // of a unit, that make what it transforms twice little
constexpr std::int64_t least_planes = 4;
constexpr std::int64_t enough_units = 16;

// As many rows as fit, of as long parts as leave enough of them.
bool cut_rows(const VolumeSizes& s, FilteredCut& cut) {
  const std::int64_t tiles = parts_of(s.width.made, filtered_voxels);
  const std::int64_t of_tile = s.depth.kernel * frequencies * whole_parts(s.inputs, filtered_channels);
  for (cut.across = 1;; ++cut.across) {
    cut.tiles = parts_of(tiles, cut.across);
    cut.rows = std::min(filtered_numbers / (of_tile * cut.tiles) - (s.height.kernel - 1),
                        filtered_sums / (frequencies * cut.tile * cut.tiles));
    if (cut.rows >= std::min(usual_rows, s.height.made) || cut.tiles == 1) break;
  }
  if (cut.rows < 1) return false;
  cut.across = parts_of(tiles, cut.tiles);
  cut.down = parts_of(s.height.made, cut.rows);
  cut.rows = parts_of(s.height.made, cut.down);
  return true;
}

}  // namespace

FilteredUnit FilteredCut::unit(const VolumeSizes& s, std::int64_t index) const {
  const auto next = [&](std::int64_t count) {
    const std::int64_t at = index % count;
    index /= count;
    return at;
  };
  const std::int64_t width = parts_of(s.width.made, filtered_voxels), whole = s.outputs - rest;
  FilteredUnit unit;
  unit.part = index % parts();
  FilteredStrip& strip = unit.strip;
  strip.tile = next(across) * tiles;
  strip.row = next(down) * rows;
  strip.plane = next(deep) * planes;
  strip.sample = next(s.samples);
  strip.tiles = std::min(tiles, width - strip.tile);
  strip.rows = std::min(rows, s.height.made - strip.row);
  strip.planes = std::min(planes, s.depth.made - strip.plane);
  unit.first_output = std::min(index * block, whole);
  unit.outputs = unit.first_output < whole ? std::min(block, whole - unit.first_output) : rest;
  return unit;
}

std::optional<FilteredCut> cut_filtered(const VolumeSizes& s, std::int64_t lanes) {
  FilteredCut cut;
  cut.tile = 2 * lanes;
  cut.rest = s.outputs % cut.tile;
  if (cut.rest > lanes) cut.rest = 0;
  if (s.outputs == cut.rest) cut.tile = lanes;
  if (!cut_rows(s, cut)) return std::nullopt;
  const std::int64_t words = frequencies * s.depth.kernel * s.height.kernel * s.inputs;
  cut.block = cut.tile * std::clamp<std::int64_t>(near_weights / (4 * words * cut.tile), 1,
                                                  most_unit_outputs / cut.tile);
  cut.blocks = parts_of(s.outputs - cut.rest, cut.block);
  const auto cut_planes = [&](std::int64_t planes) {
    cut.planes = planes;
    cut.deep = parts_of(s.depth.made, planes);
  };
  cut_planes(s.depth.kernel > 1 ? std::min(s.depth.made, usual_planes) : 1);
  while (cut.units(s) < enough_units && cut.planes > least_planes) cut_planes(parts_of(cut.planes, 2));
  return cut;
}

}  // namespace voxswap::net::convolution
