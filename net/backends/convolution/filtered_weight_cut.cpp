#include "net/backends/convolution/filtered_weight_cut.h"

#include <algorithm>

#include "net/backends/convolution/filtered_weight_sizes.h"
#include "net/backends/convolution/volume_cut.h"

namespace voxswap::net::convolution {

namespace {

constexpr std::int64_t usual_rows = 8, usual_planes = 16, least_planes = 4;  // of a slab

// Measured: with shorter rows, fewer tiles of a plane or half empty blocks of channels, little is saved.
bool is_worth_it(const Sizes& s) {
  constexpr std::int64_t least_width = 6, least_lines = 3, least_tiles = 12;
  const Axis* const axes[] = {&s.depth, &s.height, &s.width};
  const bool is_plain = std::all_of(axes, axes + 3, [](const Axis* axis) {
    return axis->kernel <= most_taps && axis->stride == 1 && axis->dilation == 1;
  });
  return is_plain && s.width.kernel == filter_taps && s.depth.kernel * s.height.kernel >= least_lines &&
         4 * s.inputs >= 3 * whole_parts(s.inputs, filtered_channels) && s.width.output >= least_width &&
         s.height.output * parts_of(s.width.output, filtered_voxels) >= least_tiles;
}

}  // namespace

std::optional<WeightCut> cut_filtered_weights(const Sizes& s, const SumBlocks& blocks) {
  if (!is_worth_it(s)) return std::nullopt;
  const std::int64_t tiles = parts_of(s.width.output, filtered_voxels);
  const std::int64_t lanes = std::min(whole_lanes(s.outputs), filtered_lanes);
  WeightCut cut;
  cut.blocks = blocks;
  Slab& slab = cut.slab;
  std::int64_t together = tiles;
  for (std::int64_t across = 1;; ++across) {
    together = parts_of(tiles, across);
    const std::int64_t of_x = s.depth.kernel * frequencies * filtered_channels * together;
    slab.rows = std::min({filtered_numbers / of_x - (s.height.kernel - 1),
                          filtered_gradients / (frequencies * lanes * together), s.height.output});
    if (slab.rows >= std::min(usual_rows, s.height.output) || together == 1) break;
  }
  slab.width = together * filtered_voxels;
  slab.across = parts_of(tiles, together);
  slab.down = parts_of(s.height.output, slab.rows);
  slab.rows = parts_of(s.height.output, slab.down);
  cut.inputs = std::min(s.inputs, filtered_channels), cut.outputs = std::min(s.outputs, filtered_lanes);
  cut.input_groups = parts_of(s.inputs, cut.inputs), cut.output_groups = parts_of(s.outputs, cut.outputs);
  const std::int64_t sums =
      4 * filter_taps * s.depth.kernel * s.height.kernel * cut.inputs * lanes * cut.groups();
  const std::int64_t wanted =
      std::max<std::int64_t>(std::min(most_sum_bytes / sums, enough_weight_units) / blocks.all, 1);
  const auto slabs = [&] {
    return s.samples * parts_of(blocks.planes, slab.planes) * slab.down * slab.across;
  };
  slab.planes = std::min(blocks.planes, usual_planes);
  while (slabs() < wanted && slab.planes > least_planes) slab.planes = parts_of(slab.planes, 2);
  cut.parts = std::min(slabs(), wanted);
  return cut;
}

}  // namespace voxswap::net::convolution
