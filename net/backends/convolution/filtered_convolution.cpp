// Convolutions and weight gradients by minimal filtering: their division among threads, and the kernel of
// convolutions.
#include <algorithm>
#include <memory>
#include <optional>

#include "base/text.h"
#include "net/backends/convolution/sizes.h"
#include "net/backends/convolution/volume_convolution.h"
#include "net/backends/convolution/weight_gradient.h"
#include "net/backends/function_kernel.h"

namespace voxswap::net::convolution {

namespace {

// Division of a convolution by minimal filtering among threads. It depends only on shapes and does not change
// results.
struct FilteredCut {
  std::int64_t tile = 1;               // output channels multiplied together
  std::int64_t block = 1, blocks = 1;  // output channels of a unit, and blocks with that many
  std::int64_t rest = 0;               // remaining output channels, fewer than a tile
  std::int64_t tiles = 1, across = 1;  // in a row of a unit; units per row
  std::int64_t rows = 1, down = 1;     // per plane
  std::int64_t planes = 1, deep = 1;   // per sample

  std::int64_t units(const VolumeSizes& sizes) const {
    return sizes.samples * (blocks + (rest > 0 ? 1 : 0)) * deep * down * across;
  }
  std::int64_t parts() const { return across * down; }  // units per plane
  FilteredUnit unit(const VolumeSizes& sizes, std::int64_t index) const;
};

constexpr std::int64_t near_weights = 256 << 10;  // bytes of weights that stay in a core's L2 cache
constexpr std::int64_t usual_rows = 8,
                       usual_planes = 16;  // per unit, so that little is transformed twice
constexpr std::int64_t least_planes = 4;
constexpr std::int64_t enough_units = 16;

// As many rows as fit, in the longest parts that allow enough of them.
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

// Nullopt if a unit exceeds a thread's scratch, or the transforms cost more than they save. `lanes`: per
// register.
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

constexpr std::int64_t arranged_together = 16;  // input channels of weights

constexpr OfInstructions<FilteredMaker> makers = {&filtered_maker_portable, nullptr,
#if defined(__x86_64__)
                                                  &filtered_maker_avx2, &filtered_maker_avx512
#endif
};

// A row of taps, for all lanes that are multiplied together.
using Taps = double[filter_taps][most_tile_outputs];
using Filters = float[frequencies][most_tile_outputs];

// Applies G: three taps become frequencies, rounded once.
void transform_taps(const Taps& taps, Filters& to) {
  constexpr double n = near_point, f = far_point, of_zero = 1 / (n * n * f * f);
  constexpr double of_near = 1 / (2 * n * n * (n * n - f * f)), of_far = 1 / (2 * f * f * (f * f - n * n));
  for (std::int64_t i = 0; i < most_tile_outputs; ++i) {
    const double even_near = taps[0][i] + n * n * taps[2][i], even_far = taps[0][i] + f * f * taps[2][i];
    to[0][i] = static_cast<float>(taps[0][i] * of_zero);
    to[1][i] = static_cast<float>((even_near + n * taps[1][i]) * of_near);
    to[2][i] = static_cast<float>((even_near - n * taps[1][i]) * of_near);
    to[3][i] = static_cast<float>((even_far + f * taps[1][i]) * of_far);
    to[4][i] = static_cast<float>((even_far - f * taps[1][i]) * of_far);
    to[5][i] = static_cast<float>(taps[2][i]);
  }
}

// A gradient without strides is a convolution with mirrored taps.
VolumeSizes turned(VolumeSizes sizes) {
  if (!sizes.gradient) return sizes;
  for (VolumeAxis* const axis : {&sizes.depth, &sizes.height, &sizes.width})
    axis->before = axis->kernel - 1 - axis->before;
  return sizes;
}

class FilteredConvolution final : public ObservableKernel {
 public:
  FilteredConvolution(const VolumeSizes& sizes, Instructions instructions, Added added)
      : sizes_(turned(sizes)),
        maker_(makers.of(instructions, ElementType::f32)),
        lines_(sizes.depth.kernel * sizes.height.kernel),
        cut_(*cut_filtered(sizes_, maker_.lanes)),
        added_(added),
        implementation_(format("own:{}:filtered", instructions_name(instructions))) {}
  std::int64_t workspace_bytes() const override {
    return 4 * frequencies * lines_ * sizes_.inputs * whole_parts(sizes_.outputs, maker_.lanes);
  }
  std::string implementation() const override { return implementation_; }

  std::int64_t parts() const override { return cut_.parts(); }

  void run_observed(const KernelArguments& arguments, const PartMade* made) override {
    auto* const weights = place<float>(arguments, 0);
    const std::int64_t block = 2 * maker_.lanes, chunks = parts_of(sizes_.inputs, arranged_together),
                       tasks = parts_of(sizes_.outputs, block) * chunks;
#pragma omp parallel for schedule(dynamic) if (tasks > 1)
    for (std::int64_t task = 0; task < tasks; ++task)
      arrange(input<float>(arguments, 1), task / chunks * block, task % chunks * arranged_together, weights);
    const float* const bias = added_ == Added::bias ? input<float>(arguments, 2) : nullptr;
    const float* const start = added_ == Added::volume ? input<float>(arguments, 2) : nullptr;
    const std::int64_t units = cut_.units(sizes_);
#pragma omp parallel for schedule(dynamic) if (units > 1)
    for (std::int64_t index = 0; index < units; ++index) {
      FilteredScratch scratch;
      FilteredUnit unit = cut_.unit(sizes_, index);
      unit.made = made;
      maker_.make(sizes_, unit, input<float>(arguments, 0), weights, bias, start, output<float>(arguments),
                  scratch);
    }
  }

 private:
  // Arranges the weights of some input channels for the lanes of a block.
  void arrange(const float* w, std::int64_t first_output, std::int64_t first, float* all) const {
    const std::int64_t end = std::min(first + arranged_together, sizes_.inputs),
                       outputs = std::min(2 * maker_.lanes, sizes_.outputs - first_output),
                       lanes = whole_parts(outputs, maker_.lanes);
    float* const weights = all + first_output * frequencies * lines_ * sizes_.inputs;
    for (std::int64_t channel = first; channel < end; ++channel)
      for (std::int64_t line = 0; line < lines_; ++line) {
        Taps taps = {};
        for (std::int64_t lane = 0; lane < outputs; ++lane)
          read_taps(w, first_output + lane, channel, line, lane, taps);
        Filters made;
        transform_taps(taps, made);
        for (std::int64_t f = 0; f < frequencies; ++f)
          std::copy_n(made[f], lanes, weights + ((f * lines_ + line) * sizes_.inputs + channel) * lanes);
      }
  }
  // Reads from O,I,D,H,W. For a gradient, the outputs are I, and taps are mirrored.
  void read_taps(const float* w, std::int64_t made, std::int64_t read, std::int64_t line, std::int64_t lane,
                 Taps& to) const {
    const std::int64_t pair = sizes_.gradient ? read * sizes_.outputs + made : made * sizes_.inputs + read;
    const std::int64_t at = sizes_.gradient ? lines_ - 1 - line : line;
    const float* const from = w + (pair * lines_ + at) * filter_taps;
    for (std::int64_t tap = 0; tap < filter_taps; ++tap)
      to[tap][lane] = from[sizes_.gradient ? filter_taps - 1 - tap : tap];
  }

  VolumeSizes sizes_;  // of a forward convolution; `gradient` selects the layout of weights
  FilteredMaker maker_;
  std::int64_t lines_;  // rows of taps
  FilteredCut cut_;
  Added added_;
  std::string implementation_;
};

}  // namespace

// Measured limits: below these, transforming channels or weights costs as much as the saved products.
bool is_filtered(const VolumeSizes& s) {
  constexpr std::int64_t least_inputs = 12, least_width = 6, least_lines = 3, least_voxels = 700;
  const VolumeAxis* const axes[] = {&s.depth, &s.height, &s.width};
  const bool is_plain = std::all_of(axes, axes + 3, [](const VolumeAxis* axis) { return axis->stride == 1; });
  const std::int64_t usual_depth = s.depth.kernel > 1 ? s.width.made : 1;
  return is_plain && s.width.kernel == filter_taps && s.depth.kernel * s.height.kernel >= least_lines &&
         s.inputs >= least_inputs && s.width.made >= least_width &&
         usual_depth * s.height.made * s.width.made >= least_voxels &&
         cut_filtered(turned(s), filtered_channels).has_value();
}

std::unique_ptr<Kernel> make_filtered_convolution(const VolumeSizes& sizes, Instructions instructions,
                                                  Added added) {
  return std::make_unique<FilteredConvolution>(sizes, instructions, added);
}

namespace {

// Measured limits: with shorter rows, fewer tiles per plane or half empty blocks of channels, little is
// saved.
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
