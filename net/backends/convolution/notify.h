// Reports finished parts of a plane, row by row. Included only by the sources of the instruction sets
// (volume_rows.h, tiled_rows.h).
#pragma once

#include "net/backends/convolution/volume_sizes.h"

namespace voxswap::net::convolution {
namespace {

// A whole row is finished. If it is the last row of a part, the observer is called.
inline void notify_row(const VolumeSizes& s, const VolumeUnit& unit, std::int64_t plane, std::int64_t row) {
  if (unit.made == nullptr) return;
  const std::int64_t part = row / unit.part_rows, first = part * unit.part_rows, end = row + 1;
  if (end < first + unit.part_rows && end < s.height.made) return;
  unit.made->call(unit.made->context,
                  {plane, part, first, end - first, 0, s.width.made, unit.first_output, unit.outputs});
}

}  // namespace
}  // namespace voxswap::net::convolution
