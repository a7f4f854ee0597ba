#include "net/backends/convolution/weight_gradient.h"

#include <algorithm>
#include <cassert>

#include "base/text.h"
#include "net/backends/convolution/add_blocks.h"
#include "net/backends/convolution/filtered_weight_cut.h"
#include "net/backends/convolution/tiled_units.h"
#include "net/backends/convolution/transposed_sizes.h"
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
  const TransposedSizes turned = transposed_sizes(s, slab.rows, slab.width);
  const bool is_usual = std::all_of(axes, axes + 3, [](const Axis* axis) {
    return axis->kernel <= most_kernel && axis->stride <= most_stride && axis->dilation == 1;
  });
  const std::int64_t channels = std::min<std::int64_t>(s.inputs, tile_rows);
  if (is_usual && channels * turned.channel <= transposed_numbers &&
      paired_of_lanes(turned, slab.planes) <= paired_numbers)
    return instructions;
  return instructions == Instructions::amx ? Instructions::avx512_bf16 : Instructions::portable;
}

class WeightGradient final : public Kernel {
 public:
  WeightGradient(WeightGradientNode node, const WeightCut& cut, AddWeightUnit function,
                 std::string implementation)
      : node_(std::move(node)),
        cut_(cut),
        taps_(sizes().depth.kernel * sizes().height.kernel * sizes().width.kernel),
        sums_(taps_ * cut.inputs * whole_lanes(cut.outputs)),
        planes_(node_.x.size()),
        add_(function),
        implementation_(std::move(implementation)) {}
  std::int64_t workspace_bytes() const override { return is_direct() ? 0 : 4 * sums_ * cut_.units(); }
  std::string implementation() const override { return implementation_; }

  void run(const KernelArguments& arguments) override {
    for (std::size_t i = 0; i < planes_.size(); ++i)
      planes_[i] = static_cast<const std::byte*>(arguments.inputs[node_.x[i].input]) + node_.x[i].offset;
    const std::int64_t units = cut_.units(), groups = cut_.groups();
#pragma omp parallel for schedule(dynamic) if (units > 1)
    for (std::int64_t index = 0; index < units; ++index) add(arguments, index);
    if (is_direct()) return;
#pragma omp parallel for schedule(dynamic) if (groups > 1)
    for (std::int64_t group = 0; group < groups; ++group) combine(arguments, group);
  }

 private:
  const Sizes& sizes() const {
    return node_.sizes;
  }
  bool is_direct() const {
    return cut_.blocks.all * cut_.parts == 1;
  }

  void add(const KernelArguments& arguments, std::int64_t index) const {
    alignas(64) float own[own_sums];
    alignas(64) std::uint32_t words[packed_words];
    float* const sums = is_direct() ? own : place<float>(arguments, 4 * sums_ * index);
    std::fill_n(sums, sums_, 0.0F);
    const WeightUnit unit = cut_.unit(sizes(), index);
    add_(sizes(), cut_.slab, unit, planes_.data(), arguments.inputs[node_.dy], sums, words);
    if (is_direct()) write(unit, sums, output<float>(arguments));
  }
  void combine(const KernelArguments& arguments, std::int64_t group) const {
    const std::int64_t first = group * cut_.blocks.here * cut_.parts, block_sums = sums_ * cut_.parts;
    float* const sums = place<float>(arguments, 4 * sums_ * first);
    const WeightUnit unit = cut_.unit(sizes(), first);
    for (std::int64_t block = 0; block < cut_.blocks.here; ++block) {
      float* const of_block = sums + block * block_sums;
      for (std::int64_t part = 1; part < cut_.parts; ++part) {
        const float* const more = of_block + part * sums_;
        for (std::int64_t i = 0; i < sums_; ++i) of_block[i] += more[i];
      }
      if (node_.apart)
        write(unit, of_block, output<float>(arguments) + block * taps_ * sizes().inputs * sizes().outputs);
    }
    if (node_.apart) return;
    const SumsOfBlocks all[] = {{sums, cut_.blocks.here, block_sums}};
    add_blocks(sums, 0, sums_, all);
    write(unit, sums, output<float>(arguments));
  }
  // From [taps][inputs][lanes] to O,I,D,H,W.
  void write(const WeightUnit& unit, const float* sums, float* dw) const {
    constexpr std::int64_t together =
        2 * square;  // rows that are written at once stay in a cache, whatever lies between
    const std::int64_t numbers = unit.inputs * taps_, row = sizes().inputs * taps_;
    for (std::int64_t o = 0; o < unit.outputs; o += together) {
      const std::int64_t outputs = std::min(together, unit.outputs - o);
      float* const to = dw + (unit.first_output + o) * row + unit.first_input * taps_;
      std::int64_t input = 0, tap = 0;
      for (std::int64_t k = 0; k < numbers; k += square) {
        const std::int64_t some = std::min(square, numbers - k);
        const float* from[square] = {sums, sums, sums, sums};
        for (std::int64_t n = 0; n < some; ++n) {
          from[n] = sums + (tap * unit.inputs + input) * unit.lanes + o;
          if (++tap == taps_) tap = 0, ++input;
        }
        for (std::int64_t first = 0; first < outputs; first += square)
          write_square(from, first, std::min(square, outputs - first), some, to + first * row + k, row);
      }
    }
  }

  static constexpr std::int64_t square = 4;
  // to[o * row + n] = from[n][first + o] for so many o and n; all of a square can be read.
  static void write_square(const float* const (&from)[square], std::int64_t first, std::int64_t outputs,
                           std::int64_t numbers, float* to, std::int64_t row) {
    using Four __attribute__((vector_size(16), aligned(4))) = float;
    const auto read = [&](std::int64_t n) { return *reinterpret_cast<const Four*>(from[n] + first); };
    const Four a = read(0), b = read(1), c = read(2), d = read(3);
    const Four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5),
               ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7),
               cd2 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    const Four rows[square] = {
        __builtin_shufflevector(ab, cd, 0, 1, 4, 5), __builtin_shufflevector(ab, cd, 2, 3, 6, 7),
        __builtin_shufflevector(ab2, cd2, 0, 1, 4, 5), __builtin_shufflevector(ab2, cd2, 2, 3, 6, 7)};
    for (std::int64_t o = 0; o < outputs; ++o, to += row) {
      if (numbers == square)
        *reinterpret_cast<Four*>(to) = rows[o];
      else
        for (std::int64_t n = 0; n < numbers; ++n) to[n] = rows[o][n];
    }
  }

  WeightGradientNode node_;
  WeightCut cut_;
  std::int64_t taps_, sums_;  // floats of a unit
  std::vector<const void*> planes_;
  AddWeightUnit add_;
  std::string implementation_;
};

}  // namespace

WeightGradientNode weight_gradient_node(const Shape& x, const Shape& dy, const KernelAxes& axes,
                                        const SumBlocks& blocks, ElementType type) {
  return {sizes_of(x, dy, axes), blocks, false, planes_of_x(x, type, 0), 1};
}

std::vector<PlaneOfX> planes_of_x(const Shape& x, ElementType type, std::size_t input) {
  std::vector<PlaneOfX> planes;
  for (std::int64_t plane = 0; plane < x[0] * x[1]; ++plane)
    planes.push_back({input, plane * x.count_from(2) * element_bytes(type)});
  return planes;
}

std::unique_ptr<Kernel> make_weight_gradient(WeightGradientNode node, ElementType type,
                                             Instructions instructions) {
  assert(type == ElementType::f32 || type == ElementType::bf16);
  const Sizes sizes = node.sizes;
  assert(node.x.size() == static_cast<std::size_t>(sizes.samples * sizes.depth.input));
  const auto make = [&](const WeightCut& cut, AddWeightUnit function, std::string implementation) {
    return std::make_unique<WeightGradient>(std::move(node), cut, function, std::move(implementation));
  };
  if (const auto filtered = cut_filtered_weights(sizes, node.blocks); filtered && type == ElementType::f32)
    return make(*filtered, filtered_functions.of(instructions, type),
                format("own:{}:filtered", instructions_name(instructions)));
  const std::optional<WeightCut> cut = cut_weight_gradient(sizes, node.blocks);
  assert(cut);
  instructions = fitting(instructions, sizes, cut->slab);
  return make(*cut, functions.of(instructions, type), format("own:{}", instructions_name(instructions)));
}

}  // namespace voxswap::net::convolution
