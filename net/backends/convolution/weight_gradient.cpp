#include "net/backends/convolution/weight_gradient.h"

#include <algorithm>
#include <cassert>

#include "base/text.h"
#include "net/backends/convolution/pack.h"
#include "net/backends/convolution/sizes.h"
#include "net/backends/convolution/tiled_weights.h"
#include "net/backends/convolution/volume_convolution.h"
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

// Tiles need kernels and slabs whose rows fit into their buffers.
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

// The most sums that wait to be added at any time.
std::int64_t most_waiting(const Total& total) {
  std::int64_t count = 0, most = 0;
  for (const int additions : total.additions) {
    most = std::max(most, ++count);
    count -= additions;
  }
  return most;
}

class WeightGradient final : public Kernel {
 public:
  WeightGradient(WeightGradientNode node, const WeightCut& cut, AddWeightUnit function,
                 std::string implementation)
      : node_(std::move(node)),
        cut_(cut),
        taps_(sizes().depth.kernel * sizes().height.kernel * sizes().width.kernel),
        sums_(taps_ * cut.inputs * whole_lanes(cut.outputs)),
        total_(total_of_blocks(node_.first_of_nodes.value_or(0), cut.blocks.here,
                               node_.first_of_nodes.has_value())),
        planes_(node_.x.size()),
        add_(function),
        implementation_(std::move(implementation)) {}
  std::int64_t workspace_bytes() const override { return is_nested() ? 0 : 4 * sums_ * cut_.units(); }
  std::string implementation() const override { return implementation_; }

  void run(const KernelArguments& arguments) override {
    for (std::size_t i = 0; i < planes_.size(); ++i)
      planes_[i] = static_cast<const std::byte*>(arguments.inputs[node_.x[i].input]) + node_.x[i].offset;
    const std::int64_t units = cut_.units(), groups = cut_.groups();
    if (is_nested()) {
#pragma omp parallel for schedule(dynamic) if (groups > 1)
      for (std::int64_t group = 0; group < groups; ++group) add_blocks_of(arguments, group);
      return;
    }
#pragma omp parallel for schedule(dynamic) if (units > 1)
    for (std::int64_t index = 0; index < units; ++index)
      add(arguments, index, place<float>(arguments, 4 * sums_ * index));
#pragma omp parallel for schedule(dynamic) if (groups > 1)
    for (std::int64_t group = 0; group < groups; ++group) combine(arguments, group);
  }

 private:
  const Sizes& sizes() const {
    return node_.sizes;
  }
  // One thread adds all blocks of a group of channels, in its cache.
  bool is_nested() const {
    return cut_.parts == 1 && sums_ <= own_sums && most_waiting(total_) <= most_nested &&
           (cut_.blocks.all == 1 || cut_.groups() >= enough_nested_groups);
  }

  void add(const KernelArguments& arguments, std::int64_t index, float* sums) const {
    alignas(64) std::uint32_t words[packed_words];
    std::fill_n(sums, sums_, 0.0F);
    add_(sizes(), cut_.slab, cut_.unit(sizes(), index), planes_.data(), arguments.inputs[node_.dy], sums,
         words);
  }
  void add_blocks_of(const KernelArguments& arguments, std::int64_t group) const {
    alignas(64) float sums[most_nested][own_sums];
    const std::int64_t first = group * cut_.blocks.here;
    const WeightUnit unit = cut_.unit(sizes(), first);
    float* const dw = output<float>(arguments);
    std::size_t count = 0;
    for (std::int64_t block = 0; block < cut_.blocks.here; ++block) {
      add(arguments, first + block, sums[count]);
      if (node_.apart) {
        write(unit, sums[0], dw + block * row());
        continue;
      }
      for (int additions = total_.additions[static_cast<std::size_t>(block)]; additions > 0; --additions) {
        --count;
        for (std::int64_t i = 0; i < sums_; ++i) sums[count][i] += sums[count + 1][i];
      }
      ++count;
    }
    for (std::size_t i = 0; i < count; ++i) write(unit, sums[i], dw + static_cast<std::int64_t>(i) * row());
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
      if (node_.apart) write(unit, of_block, output<float>(arguments) + block * row());
    }
    if (node_.apart) return;
    std::vector<const float*> rows;
    for (std::int64_t block = 0; block < cut_.blocks.here; ++block) rows.push_back(sums + block * block_sums);
    std::vector<float*> totals;
    for (std::size_t i = 0; i < total_.outputs.size(); ++i)
      totals.push_back(sums + static_cast<std::int64_t>(i) * block_sums);
    add_rows(total_, rows, totals, 0, sums_);
    for (std::size_t i = 0; i < totals.size(); ++i)
      write(unit, totals[i], output<float>(arguments) + static_cast<std::int64_t>(i) * row());
  }
  std::int64_t row() const {
    return taps_ * sizes().inputs * sizes().outputs;
  }  // floats of a sum
  // From [taps][inputs][lanes] to O,I,D,H,W.
  void write(const WeightUnit& unit, const float* sums, float* dw) const {
    constexpr std::int64_t together = 2 * square;  // rows written at the same time stay in cache
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
  // to[o * row + n] = from[n][first + o] for these o and n; the whole square is readable.
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
  std::int64_t taps_, sums_;  // floats per unit
  Total total_;
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

namespace {

constexpr std::int64_t lanes_together = 16;  // registers of lanes on any instruction set
constexpr std::int64_t slab_voxels = 256;    // per plane, so that adding a tile to its sums is cheap
constexpr std::int64_t slab_planes = 4;      // planes that share the packed data

// Words of packed x in a slab; the first block of channels has the most positions.
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
  while ((sums_of_channels == 1 || (cut.parts == 1 && all > most_sum_bytes / 2)) && sums() > own_sums) {
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

void add_rows(const Total& total, std::span<const float* const> rows, std::span<float* const> outputs,
              std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t together = 256;
  float sums[most_sums_at_once][together];
  for (std::int64_t first = begin; first < end; first += together) {
    const std::int64_t some = std::min(together, end - first);
    std::size_t count = 0;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const float* last = rows[row] + first;
      int additions = total.additions[row];
      if (additions == 0) std::copy_n(last, some, sums[count]);
      for (; additions > 0; --additions) {
        float* const sum = sums[--count];
        for (std::int64_t i = 0; i < some; ++i) sum[i] += last[i];
        last = sum;
      }
      ++count;
    }
    for (std::size_t i = 0; i < count; ++i) std::copy_n(sums[i], some, outputs[i] + first);
  }
}

}  // namespace voxswap::net::convolution
