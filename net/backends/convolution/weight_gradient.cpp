#include "net/backends/convolution/weight_gradient.h"

#include <algorithm>
#include <cassert>

#include "base/text.h"
#include "net/backends/convolution/pack.h"
#include "net/backends/convolution/tiled_units.h"
#include "net/backends/convolution/turned_sizes.h"
#include "net/backends/convolution/weight_units.h"
#include "net/backends/function_kernel.h"

namespace voxswap::net::convolution {

namespace {

constexpr std::int64_t most_bytes = std::int64_t{1} << 20;  // of all sums in the workspace
constexpr std::int64_t own_sums = 16 << 10;  // floats on the stack of a thread, where a unit needs no others
constexpr std::int64_t enough_units = 32;    // for every core to have some
constexpr std::int64_t lanes_together = 16;  // registers of lanes on any instruction set
constexpr std::int64_t slab_voxels = 256;    // of a plane, that make adding a tile to its sums cheap
constexpr std::int64_t slab_planes = 4;      // that share what is packed

std::int64_t parts(std::int64_t whole, std::int64_t part) {
  return (whole + part - 1) / part;
}
std::int64_t whole_lanes(std::int64_t outputs) {
  return parts(outputs, lanes_together) * lanes_together;
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
  cut.blocks = std::clamp<std::int64_t>(most_bytes / all, 1, std::min(cut.slabs, enough_units));
  const auto halve_outputs = [&] { cut.outputs = whole_lanes(parts(cut.outputs, 2)); };
  const auto halve_inputs = [&] {
    cut.inputs = parts(parts(cut.inputs, 2), packed_channels) * packed_channels;
  };
  const auto groups = [&] { return parts(s.inputs, cut.inputs) * parts(s.outputs, cut.outputs); };
  while (cut.blocks * groups() < enough_units && cut.outputs > 2 * lanes_together) halve_outputs();
  while (cut.blocks * groups() < enough_units && cut.inputs > packed_channels) halve_inputs();
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
  unit.lanes = whole_lanes(outputs);
  return unit;
}

namespace {

constexpr OfInstructions<AddWeightUnit> functions = {
    add_weight_unit_portable, &add_weight_unit_emulated_amx,
#if defined(__x86_64__)
    add_weight_unit_avx2,     add_weight_unit_avx512,        &add_weight_unit_avx512_bf16,
    &add_weight_unit_amx
#endif
};

// Tiles are for kernels and slabs whose rows fit where they are laid out.
Instructions fitting(Instructions instructions, const Sizes& s, const Slab& slab) {
  if (!is_of_tiles(instructions)) return instructions;
  constexpr std::int64_t most_kernel = 3, most_stride = 2;
  const Axis* const axes[3] = {&s.depth, &s.height, &s.width};
  const TurnedSizes turned = turned_sizes(s, slab.rows, slab.width);
  const bool is_usual = std::all_of(axes, axes + 3, [](const Axis* axis) {
    return axis->kernel <= most_kernel && axis->stride <= most_stride && axis->dilation == 1;
  });
  const std::int64_t channels = std::min<std::int64_t>(s.inputs, tile_rows);
  if (is_usual && channels * turned.channel <= turned_numbers &&
      paired_of_lanes(turned, slab.planes) <= paired_numbers)
    return instructions;
  return instructions == Instructions::amx ? Instructions::avx512_bf16 : Instructions::portable;
}

class WeightGradient final : public Kernel {
 public:
  WeightGradient(const Sizes& sizes, const WeightCut& cut, ElementType type, Instructions instructions)
      : sizes_(sizes),
        cut_(cut),
        taps_(sizes.depth.kernel * sizes.height.kernel * sizes.width.kernel),
        sums_(taps_ * cut.inputs * whole_lanes(cut.outputs)),
        add_(functions.of(instructions, type)),
        implementation_(format("own:{}", instructions_name(instructions))) {}
  std::int64_t workspace_bytes() const override { return cut_.blocks > 1 ? 4 * sums_ * cut_.units() : 0; }
  std::string implementation() const override { return implementation_; }

  void run(const KernelArguments& arguments) override {
    const std::int64_t units = cut_.units();
#pragma omp parallel for schedule(dynamic) if (units > 1)
    for (std::int64_t index = 0; index < units; ++index) add(arguments, index);
    if (cut_.blocks == 1) return;
    const std::int64_t groups = units / cut_.blocks;
#pragma omp parallel for schedule(dynamic) if (groups > 1)
    for (std::int64_t group = 0; group < groups; ++group) combine(arguments, group);
  }

 private:
  void add(const KernelArguments& arguments, std::int64_t index) const {
    alignas(64) float own[own_sums];
    alignas(64) std::uint32_t words[packed_words];
    float* const sums = cut_.blocks > 1 ? place<float>(arguments, 4 * sums_ * index) : own;
    std::fill_n(sums, sums_, 0.0F);
    const WeightUnit unit = cut_.unit(sizes_, index);
    add_(sizes_, cut_.slab, unit, arguments.inputs[0], arguments.inputs[1], sums, words);
    if (cut_.blocks == 1) write(unit, sums, output<float>(arguments));
  }
  void combine(const KernelArguments& arguments, std::int64_t group) const {
    float* const sums = place<float>(arguments, 4 * sums_ * group * cut_.blocks);
    for (std::int64_t block = 1; block < cut_.blocks; ++block) {
      const float* const more = sums + block * sums_;
      for (std::int64_t i = 0; i < sums_; ++i) sums[i] += more[i];
    }
    write(cut_.unit(sizes_, group * cut_.blocks), sums, output<float>(arguments));
  }
  // From [taps][inputs][lanes] to O,I,D,H,W.
  void write(const WeightUnit& unit, const float* sums, float* dw) const {
    for (std::int64_t o = 0; o < unit.outputs; ++o) {
      float* to = dw + ((unit.first_output + o) * sizes_.inputs + unit.first_input) * taps_;
      for (std::int64_t i = 0; i < unit.inputs; ++i)
        for (std::int64_t tap = 0; tap < taps_; ++tap) *to++ = sums[(tap * unit.inputs + i) * unit.lanes + o];
    }
  }

  Sizes sizes_;
  WeightCut cut_;
  std::int64_t taps_, sums_;  // floats of a unit
  AddWeightUnit add_;
  std::string implementation_;
};

}  // namespace

std::unique_ptr<Kernel> make_weight_gradient(const Sizes& sizes, ElementType type,
                                             Instructions instructions) {
  const std::optional<WeightCut> cut = cut_weight_gradient(sizes);
  assert(cut && (type == ElementType::f32 || type == ElementType::bf16));
  return std::make_unique<WeightGradient>(sizes, *cut, type, fitting(instructions, sizes, cut->slab));
}

}  // namespace voxswap::net::convolution
