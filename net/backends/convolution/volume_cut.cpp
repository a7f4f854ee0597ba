#include "net/backends/convolution/volume_cut.h"

#include <algorithm>

namespace voxswap::net::convolution {

namespace {

constexpr std::int64_t near_weights = 512 << 10;  // bytes of weights that stay in a core's second cache
constexpr std::int64_t near_numbers = 64 << 10;   // of a part of a plane that stays there
constexpr std::int64_t enough_units = 16;         // for every core to have some

}  // namespace

std::int64_t parts_of(std::int64_t whole, std::int64_t part) {
  return (whole + part - 1) / part;
}
std::int64_t whole_parts(std::int64_t whole, std::int64_t part) {
  return parts_of(whole, part) * part;
}
std::int64_t taps_of(const VolumeSizes& s) {
  return s.depth.kernel * s.height.kernel * s.width.kernel;
}

VolumeUnit VolumeCut::unit(const VolumeSizes& s, std::int64_t index, const PartMade* made) const {
  const std::int64_t group = index % groups, first = index / groups * block, whole = s.outputs - rest;
  const std::int64_t end = std::min((group + 1) * planes, s.samples * s.depth.made);
  const std::int64_t outputs = first < whole ? std::min(block, whole - first) : rest;
  return {group * planes, end, std::min(first, whole), outputs, part_rows, made};
}

VolumeCut cut_volume(const VolumeSizes& s, std::int64_t tile, std::int64_t lanes, std::int64_t words) {
  VolumeCut cut;
  cut.tile = tile;
  cut.rest = s.outputs % tile;
  if (cut.rest > lanes) cut.rest = 0;
  const std::int64_t planes = s.samples * s.depth.made, whole = s.outputs - cut.rest;
  const std::int64_t near =
      std::clamp<std::int64_t>(near_weights / (4 * words * tile), 1, most_unit_outputs / tile);
  cut.block = near * tile;
  cut.blocks = parts_of(whole, cut.block);
  cut.planes = cut.blocks > 1 ? std::clamp<std::int64_t>(planes * cut.blocks / enough_units, 1, planes) : 1;
  cut.groups = parts_of(planes, cut.planes);
  cut.part_rows = std::clamp<std::int64_t>(near_numbers / (s.width.made * s.outputs), 1, s.height.made);
  return cut;
}

}  // namespace voxswap::net::convolution
