#include "net/backends/convolution/weight_gradient.h"

#include <algorithm>
#include <cassert>

#include "base/text.h"
#include "net/backends/convolution/filtered_weight_cut.h"
#include "net/backends/convolution/tiled_units.h"
#include "net/backends/convolution/turned_sizes.h"
#include "net/backends/convolution/weight_units.h"
#include "net/backends/function_kernel.h"

namespace voxswap::net::convolution {

namespace {

constexpr OfInstructions<AddWeightUnit> functions = {
    add_weight_unit_portable, &add_weight_unit_emulated_amx,
#if defined(__x86_64__)
    add_weight_unit_avx2,     add_weight_unit_avx512,        &add_weight_unit_avx512_bf16,
    &add_weight_unit_amx
#endif
};

constexpr OfInstructions<AddWeightUnit> filtered_functions = {&add_filtered_unit_portable, nullptr,
#if defined(__x86_64__)
                                                              &add_filtered_unit_avx2,
                                                              &add_filtered_unit_avx512
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
  WeightGradient(const Sizes& sizes, const WeightCut& cut, AddWeightUnit function, std::string implementation)
      : sizes_(sizes),
        cut_(cut),
        taps_(sizes.depth.kernel * sizes.height.kernel * sizes.width.kernel),
        sums_(taps_ * cut.inputs * whole_lanes(cut.outputs)),
        add_(function),
        implementation_(std::move(implementation)) {}
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
  assert(type == ElementType::f32 || type == ElementType::bf16);
  const auto make = [&](const WeightCut& cut, AddWeightUnit function, std::string implementation) {
    return std::make_unique<WeightGradient>(sizes, cut, function, std::move(implementation));
  };
  if (const auto filtered = cut_filtered_weights(sizes); filtered && type == ElementType::f32)
    return make(*filtered, filtered_functions.of(instructions, type),
                format("own:{}:filtered", instructions_name(instructions)));
  const std::optional<WeightCut> cut = cut_weight_gradient(sizes);
  assert(cut);
  instructions = fitting(instructions, sizes, cut->slab);
  return make(*cut, functions.of(instructions, type), format("own:{}", instructions_name(instructions)));
}

}  // namespace voxswap::net::convolution
