#include "net/backends/convolution/weight_cut.h"

#include <algorithm>

#include "net/backends/convolution/pack.h"
#include "net/backends/convolution/volume_cut.h"

namespace voxswap::net::convolution {

namespace {

constexpr std::int64_t lanes_together = 16;  // registers of lanes on any instruction set
constexpr std::int64_t slab_voxels = 256;    // of a plane, that make adding a tile to its sums cheap
constexpr std::int64_t slab_planes = 4;      // that share what is packed

// Words of x that a slab has packed; the first block of channels is the one with the most places.
std::int64_t packed(const Sizes& s, std::int64_t rows, std::int64_t width) {
  const Axis &h = s.height, &w = s.width;
  const std::int64_t lines = (rows - 1) * h.stride + (h.dilation == 1 ? h.kernel : 1);
  return lines * ((width - 1) * w.stride + (w.kernel - 1) * w.dilation + 1) * next_block(s.inputs).places;
}

std::optional<Slab> cut_slabs(const Sizes& s, std::int64_t planes) {
  Slab slab;
  slab.width = std::min<std::int64_t>(s.width.output, slab_voxels);
  while (packed(s, 1, slab.width) > packed_words) {
    if (slab.width <= 2) return std::nullopt;
    slab.width = (slab.width / 2 + 1) / 2 * 2;  // whole pairs
  }
  while (slab.rows < s.height.output && slab.rows * slab.width < slab_voxels &&
         packed(s, slab.rows + 1, slab.width) <= packed_words)
    ++slab.rows;
  slab.down = parts_of(s.height.output, slab.rows);
  slab.across = parts_of(s.width.output, slab.width);
  if (s.depth.kernel == 1) return slab;
  slab.planes = std::min(planes, slab_planes);
  if (slab.down * slab.across > 1 || s.height.dilation > 1) return slab;
  const auto fits = [&](std::int64_t deep) {
    const std::int64_t read = (deep - 1) * s.depth.stride + (s.depth.kernel - 1) * s.depth.dilation + 1;
    return read * packed(s, slab.rows, slab.width) <= packed_words;
  };
  std::int64_t deep = planes;
  while (deep > 1 && !fits(deep)) --deep;
  if (deep > 1) slab.planes = deep, slab.together = true;
  return slab;
}

}  // namespace

std::int64_t whole_lanes(std::int64_t outputs) {
  return parts_of(outputs, lanes_together) * lanes_together;
}

Sizes sizes_of(const Shape& x, const Shape& dy, const KernelAxes& axes) {
  Sizes sizes{x[0], x[4], dy[4], {}, {}, {}};
  Axis* const all[3] = {&sizes.depth, &sizes.height, &sizes.width};
  for (int i = 0; i < 3; ++i) {
    const KernelAxis& axis = axes[static_cast<std::size_t>(i)];
    *all[i] = {x[i + 1], dy[i + 1], axis.kernel, axis.stride, axis.before, axis.dilation};
  }
  return sizes;
}

std::optional<WeightCut> cut_weight_gradient(const Sizes& s, const SumBlocks& blocks) {
  const std::optional<Slab> slab = cut_slabs(s, blocks.planes);
  if (!slab) return std::nullopt;
  WeightCut cut{*slab, blocks};
  const std::int64_t slabs = s.samples * parts_of(blocks.planes, slab->planes) * slab->down * slab->across;
  const std::int64_t taps = s.depth.kernel * s.height.kernel * s.width.kernel;
  const auto sums = [&] { return taps * cut.inputs * whole_lanes(cut.outputs); };
  cut.inputs = s.inputs, cut.outputs = s.outputs;
  const std::int64_t all = 4 * taps * s.inputs * whole_lanes(s.outputs);
  cut.parts =
      std::clamp<std::int64_t>(std::min(most_sum_bytes / all, enough_weight_units) / blocks.all, 1, slabs);
  const std::int64_t sums_of_channels = blocks.all * cut.parts;
  const auto halve_outputs = [&] { cut.outputs = whole_lanes(parts_of(cut.outputs, 2)); };
  const auto halve_inputs = [&] {
    cut.inputs = parts_of(parts_of(cut.inputs, 2), packed_channels) * packed_channels;
  };
  const auto groups = [&] { return parts_of(s.inputs, cut.inputs) * parts_of(s.outputs, cut.outputs); };
  while (sums_of_channels * groups() < enough_weight_units && cut.outputs > 2 * lanes_together)
    halve_outputs();
  while (sums_of_channels * groups() < enough_weight_units && cut.inputs > packed_channels) halve_inputs();
  while (sums_of_channels == 1 && sums() > own_sums) {
    if (cut.inputs > packed_channels)
      halve_inputs();
    else if (cut.outputs > lanes_together)
      halve_outputs();
    else
      return std::nullopt;
  }
  cut.input_groups = parts_of(s.inputs, cut.inputs);
  cut.output_groups = parts_of(s.outputs, cut.outputs);
  return cut;
}

WeightUnit WeightCut::unit(const Sizes& s, std::int64_t index) const {
  const std::int64_t part = index % parts, block = index / parts % blocks.here,
                     group = index / parts / blocks.here;
  WeightUnit unit;
  unit.first_plane = block * blocks.planes;
  unit.planes = std::min(blocks.planes, s.depth.output - unit.first_plane);
  const std::int64_t slabs = s.samples * parts_of(unit.planes, slab.planes) * slab.down * slab.across;
  unit.from = part * slabs / parts;
  unit.to = (part + 1) * slabs / parts;
  unit.first_input = group % input_groups * inputs;
  unit.first_output = group / input_groups * outputs;
  unit.inputs = std::min(inputs, s.inputs - unit.first_input);
  unit.outputs = std::min(outputs, s.outputs - unit.first_output);
  unit.lanes = whole_lanes(unit.outputs);
  return unit;
}

}  // namespace voxswap::net::convolution
