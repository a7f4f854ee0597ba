#include "net/backends/convolution/volume_convolution.h"

#include <algorithm>
#include <cassert>

#include "base/text.h"
#include "net/backends/convolution/pack.h"
#include "net/backends/convolution/sizes.h"
#include "net/backends/function_kernel.h"

namespace voxswap::net::convolution {

namespace {

constexpr std::int64_t arranged_together = 16;  // words of weights per channel
constexpr std::int64_t most_stride = 2;
constexpr std::int64_t most_lanes = 32;  // of a tile: two registers

std::int64_t slots(const VolumeSizes& s) {
  return s.depth.kernel * s.height.kernel;
}

void set_phases(VolumeSizes& s) {
  const VolumeAxis& w = s.width;
  if (!s.gradient) {
    s.phases[0] = {0, 1, w.made, w.kernel, {0, 1, 2}, -w.before, w.stride, 0};  // in order of position
    return;
  }
  if (w.kernel == 3 && w.stride == 2 && w.before == 1 && w.made == 2 * w.read) {
    s.phases[0] = {0, 1, w.made, 3, {0, 1, 2}, 0, 0, 0};
    return;
  }
  s.phase_count = w.stride;
  for (std::int64_t first = 0; first < w.stride; ++first) {
    Phase phase = {first, w.stride, parts_of(w.made - first, w.stride), 0, {}, 0, 1, 0};
    for (std::int64_t tap = w.kernel - 1; tap >= 0; --tap) {
      if ((first + w.before - tap) % w.stride != 0) continue;
      if (phase.taps == 0) phase.start = (first + w.before - tap) / w.stride;
      phase.tap[phase.taps++] = tap;
    }
    s.phases[first] = phase;
  }
}

// A tile has one zero voxel before a row and one behind it.
bool is_within_reach(const VolumeSizes& s, const Phase& phase) {
  if (phase.advance == 0) return true;
  const std::int64_t last = phase.start + (phase.count - 1) * phase.advance + phase.taps - 1;
  const std::int64_t beyond = phase.taps > 1 ? 1 : 0;
  return phase.taps == 0 || (phase.start >= -beyond && last < s.width.read + beyond);
}

}  // namespace

std::optional<VolumeSizes> volume_sizes(const Shape& read, const Shape& made, const KernelAxes& axes,
                                        bool gradient) {
  VolumeSizes s;
  s.samples = read[0], s.inputs = read[4], s.outputs = made[4], s.gradient = gradient;
  VolumeAxis* const all[3] = {&s.depth, &s.height, &s.width};
  for (int i = 0; i < 3; ++i) {
    const KernelAxis& axis = axes[static_cast<std::size_t>(i)];
    if (axis.kernel > most_taps || axis.stride > most_stride || axis.dilation > 1) return std::nullopt;
    *all[i] = {read[i + 1], made[i + 1], axis.kernel, axis.stride, axis.before};
  }
  set_phases(s);
  for (std::int64_t i = 0; i < s.phase_count; ++i)
    if (!is_within_reach(s, s.phases[i])) return std::nullopt;
  if (s.inputs > most_inputs) return std::nullopt;
  return s;
}

namespace {

// Products of pairs need an even number of channels.
Instructions fitting(Instructions instructions, std::int64_t inputs) {
  if (instructions == Instructions::emulated_amx) return Instructions::portable;
  const bool in_pairs = instructions == Instructions::amx || instructions == Instructions::avx512_bf16;
  if (!in_pairs) return instructions;
  return inputs % 2 != 0 ? Instructions::avx512 : Instructions::avx512_bf16;
}

constexpr OfInstructions<VolumeMaker> makers = {volume_maker_portable, nullptr,
#if defined(__x86_64__)
                                                volume_maker_avx2, volume_maker_avx512,
                                                &volume_maker_avx512_bf16
#endif
};

class VolumeConvolution final : public ObservableKernel {
 public:
  VolumeConvolution(const VolumeSizes& sizes, ElementType type, Instructions instructions, Added added)
      : sizes_(sizes),
        maker_(makers.of(instructions, type)),
        words_(parts_of(sizes.inputs, maker_.step)),
        cut_(cut_volume(sizes, 2 * maker_.lanes, maker_.lanes, words_ * taps_of(sizes))),
        rounded_(type == ElementType::bf16),
        added_(added),
        implementation_(format("own:{}", instructions_name(instructions))) {
    std::int64_t taps = 0;
    for (std::int64_t i = 0; i < sizes_.phase_count; ++i) {
      Phase& phase = sizes_.phases[i];
      phase.weights = taps * slots(sizes_) * words_;
      taps += phase.taps;
    }
  }
  std::int64_t workspace_bytes() const override {
    return 4 * taps_of(sizes_) * words_ * whole_parts(sizes_.outputs, maker_.lanes);
  }
  std::string implementation() const override { return implementation_; }

  std::int64_t parts() const override { return parts_of(sizes_.height.made, cut_.part_rows); }

  void run_observed(const KernelArguments& arguments, const PartMade* made) override {
    auto* const weights = place<std::uint32_t>(arguments, 0);
    const std::int64_t chunks = parts_of(words_, arranged_together),
                       tasks = parts_of(sizes_.outputs, cut_.tile) * chunks;
#pragma omp parallel for schedule(dynamic) if (tasks > 1)
    for (std::int64_t task = 0; task < tasks; ++task)
      arrange(input<float>(arguments, 1), task / chunks * cut_.tile, task % chunks * arranged_together,
              weights);
    const float* const bias = added_ == Added::bias ? input<float>(arguments, 2) : nullptr;
    const void* const start = added_ == Added::volume ? arguments.inputs[2] : nullptr;
    const std::int64_t units = cut_.units();
#pragma omp parallel for schedule(dynamic) if (units > 1)
    for (std::int64_t index = 0; index < units; ++index)
      maker_.make(sizes_, cut_.unit(sizes_, index, made), arguments.inputs[0], weights, bias, start,
                  arguments.outputs[0]);
  }

 private:
  using Words =
      std::uint32_t[most_taps * most_taps * most_taps][most_lanes];  // of each tap and lane of a tile

  // Arranges some words from `first` on for the lanes of a tile, from O,I,D,H,W (for a gradient, the outputs
  // are I).
  void arrange(const float* w, std::int64_t first_output, std::int64_t first, std::uint32_t* all) const {
    const std::int64_t end = std::min(first + arranged_together, words_),
                       outputs = std::min(cut_.tile, sizes_.outputs - first_output),
                       lanes = whole_parts(outputs, maker_.lanes), taps = taps_of(sizes_);
    std::uint32_t* const weights = all + first_output * words_ * taps;
    Words words = {};
    for (std::int64_t word = first; word < end; ++word) {
      for (std::int64_t lane = 0; lane < outputs; ++lane)
        read_words(w, first_output + lane, word * maker_.step, lane, words);
      for (std::int64_t tap = 0; tap < taps; ++tap)
        std::copy_n(words[tap], lanes, weights + place_of(tap, word) * lanes);
    }
  }
  // Position in words of one lane of a tap and a word of channels.
  std::int64_t place_of(std::int64_t tap, std::int64_t word) const {
    const std::int64_t line = tap / sizes_.width.kernel, along = tap % sizes_.width.kernel;
    for (std::int64_t i = 0; i < sizes_.phase_count; ++i) {
      const Phase& phase = sizes_.phases[i];
      for (std::int64_t t = 0; t < phase.taps; ++t)
        if (phase.tap[t] == along) return phase.weights + (line * words_ + word) * phase.taps + t;
    }
    return 0;  // not reached: every tap belongs to a phase
  }
  // Reads all taps of the channel and, if pairs are multiplied, of the next one.
  void read_words(const float* w, std::int64_t output, std::int64_t channel, std::int64_t lane,
                  Words& words) const {
    const std::int64_t taps = taps_of(sizes_), next = sizes_.gradient ? sizes_.outputs * taps : taps;
    const float* const from =
        w + (sizes_.gradient ? channel * sizes_.outputs + output : output * sizes_.inputs + channel) * taps;
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      std::uint32_t& word = words[tap][lane];
      if (!rounded_) {
        __builtin_memcpy(&word, from + tap, sizeof word);
        continue;
      }
      Bf16 low, high;
      round_to(&low, from[tap]);
      word = static_cast<std::uint32_t>(low.bits) << 16;  // widened again
      if (maker_.step == 1) continue;
      round_to(&high, from[next + tap]);
      word = low.bits | static_cast<std::uint32_t>(high.bits) << 16;
    }
  }

  VolumeSizes sizes_;
  VolumeMaker maker_;
  std::int64_t words_;  // of the weights, per output channel and tap
  VolumeCut cut_;
  bool rounded_;
  Added added_;
  std::string implementation_;
};

}  // namespace

std::unique_ptr<Kernel> make_volume_convolution(const VolumeSizes& sizes, ElementType type,
                                                Instructions instructions, Added added) {
  assert(type == ElementType::bf16 || (type == ElementType::f32 && !is_of_tiles(instructions)));
  if (type == ElementType::f32 && is_filtered(sizes))
    return make_filtered_convolution(sizes, instructions, added);
  if (is_of_tiles(instructions) && is_tiled(sizes)) return make_tiled_convolution(sizes, instructions, added);
  return std::make_unique<VolumeConvolution>(sizes, type, fitting(instructions, sizes.inputs), added);
}

namespace {

constexpr std::int64_t near_weights = 512 << 10;  // bytes of weights that stay in a core's L2 cache
constexpr std::int64_t near_numbers = 64 << 10;   // of a part of a plane that stays there
constexpr std::int64_t enough_units = 16;         // so that every core gets some

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
