#include "net/backends/convolution/weight_cut.h"

#include <algorithm>

#include "net/backends/convolution/pack.h"

namespace voxswap::net::convolution {

namespace {

constexpr std::int64_t lanes_together = 16;  // registers of lanes on any instruction set
constexpr std::int64_t slab_voxels = 256;    // of a plane, that make adding a tile to its sums cheap
constexpr std::int64_t slab_planes = 4;      // that share what is packed

std::int64_t parts(std::int64_t whole, std::int64_t part) {
  return (whole + part - 1) / part;
}

// Words of x that a slab has packed; the first block of channels is the one with the most places.
std::int64_t packed(const Sizes& s, std::int64_t rows, std::int64_t width) {
  const Axis &h = s.height, &w = s.width;
  const std::int64_t lines = (rows - 1) * h.stride + (h.dilation == 1 ? h.kernel : 1);
  return lines * ((width - 1) * w.stride + (w.kernel - 1) * w.dilation + 1) * next_block(s.inputs).places;
}

std::optional<Slab> cut_slabs(const Sizes& s) {
  Slab slab;
  slab.width = std::min<std::int64_t>(s.width.output, slab_voxels);
  while (packed(s, 1, slab.width) > packed_words) {
    if (slab.width <= 2) return std::nullopt;
    slab.width = (slab.width / 2 + 1) / 2 * 2;  // whole pairs
  }
  while (slab.rows < s.height.output && slab.rows * slab.width < slab_voxels &&
         packed(s, slab.rows + 1, slab.width) <= packed_words)
    ++slab.rows;
  if (s.depth.kernel > 1) slab.planes = std::min(s.depth.output, slab_planes);
  slab.deep = parts(s.depth.output, slab.planes);
  slab.down = parts(s.height.output, slab.rows);
  slab.across = parts(s.width.output, slab.width);
  return slab;
}

}  // namespace

std::int64_t whole_lanes(std::int64_t outputs) {
  return parts(outputs, lanes_together) * lanes_together;
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

std::optional<WeightCut> cut_weight_gradient(const Sizes& s) {
  const std::optional<Slab> slab = cut_slabs(s);
  if (!slab) return std::nullopt;
  WeightCut cut{*slab, s.samples * slab->deep * slab->down * slab->across};
  const std::int64_t taps = s.depth.kernel * s.height.kernel * s.width.kernel;
  const auto sums = [&] { return taps * cut.inputs * whole_lanes(cut.outputs); };
  cut.inputs = s.inputs, cut.outputs = s.outputs;
  const std::int64_t all = 4 * taps * s.inputs * whole_lanes(s.outputs);
  cut.blocks = std::clamp<std::int64_t>(most_sum_bytes / all, 1, std::min(cut.slabs, enough_weight_units));
  const auto halve_outputs = [&] { cut.outputs = whole_lanes(parts(cut.outputs, 2)); };
  const auto halve_inputs = [&] {
    cut.inputs = parts(parts(cut.inputs, 2), packed_channels) * packed_channels;
  };
  const auto groups = [&] { return parts(s.inputs, cut.inputs) * parts(s.outputs, cut.outputs); };
  while (cut.blocks * groups() < enough_weight_units && cut.outputs > 2 * lanes_together) halve_outputs();
  while (cut.blocks * groups() < enough_weight_units && cut.inputs > packed_channels) halve_inputs();
  while (cut.blocks == 1 && sums() > own_sums) {
    if (cut.inputs > packed_channels)
      halve_inputs();
    else if (cut.outputs > lanes_together)
      halve_outputs();
    else
      return std::nullopt;
  }
  cut.input_groups = parts(s.inputs, cut.inputs);
  cut.output_groups = parts(s.outputs, cut.outputs);
  return cut;
}

WeightUnit WeightCut::unit(const Sizes& s, std::int64_t index) const {
  const std::int64_t block = index % blocks, group = index / blocks;
  WeightUnit unit;
  unit.from = block * slabs / blocks;
  unit.to = (block + 1) * slabs / blocks;
  unit.first_input = group % input_groups * inputs;
  unit.first_output = group / input_groups * outputs;
  unit.inputs = std::min(inputs, s.inputs - unit.first_input);
  unit.outputs = std::min(outputs, s.outputs - unit.first_output);
  unit.lanes = whole_lanes(unit.outputs);
  return unit;
}

}  // namespace voxswap::net::convolution
