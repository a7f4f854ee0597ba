#include "net/backends/convolution/volume_convolution.h"

#include <algorithm>
#include <cassert>

#include "base/text.h"
#include "net/backends/convolution/pack.h"
#include "net/backends/convolution/round.h"
#include "net/backends/convolution/volume_units.h"
#include "net/backends/function_kernel.h"

namespace voxswap::net::convolution {

namespace {

constexpr std::int64_t near_weights = 256 << 10;  // bytes of weights that stay in its second
constexpr std::int64_t enough_units = 16;         // for every core to have some
constexpr std::int64_t arranged_together = 16;    // words of weights of a channel
constexpr std::int64_t most_stride = 2;

std::int64_t parts_of(std::int64_t whole, std::int64_t part) {
  return (whole + part - 1) / part;
}
std::int64_t whole_parts(std::int64_t whole, std::int64_t part) {
  return parts_of(whole, part) * part;
}
std::int64_t slots(const VolumeSizes& s) {
  return s.depth.kernel * s.height.kernel;
}
std::int64_t taps_of(const VolumeSizes& s) {
  return slots(s) * s.width.kernel;
}

void set_phases(VolumeSizes& s) {
  const VolumeAxis& w = s.width;
  if (!s.gradient) {
    s.phases[0] = {0, 1, w.made, w.kernel, {0, 1, 2}, -w.before, w.stride, 0};  // in order of place
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

// A tile has zeros for the voxels before and behind a row, one of each.
bool is_within_reach(const VolumeSizes& s, const Phase& phase) {
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

// Products of pairs of channels take an even number of them.
Instructions fitting(Instructions instructions, std::int64_t inputs) {
  return instructions == Instructions::avx512_bf16 && inputs % 2 != 0 ? Instructions::avx512 : instructions;
}

VolumeMaker maker_of(Instructions instructions, ElementType type) {
  const std::size_t of_type = type == ElementType::bf16 ? 1 : 0;
#if defined(__x86_64__)
  switch (instructions) {
    case Instructions::portable:
      break;
    case Instructions::avx2:
      return volume_maker_avx2[of_type];
    case Instructions::avx512:
      return volume_maker_avx512[of_type];
    case Instructions::avx512_bf16:
      return volume_maker_avx512_bf16;
  }
#endif
  return volume_maker_portable[of_type];
}

// How planes and output channels are divided among threads: by shapes alone, and no bit depends on it.
struct VolumeCut {
  std::int64_t block = 1, blocks = 1;   // output channels
  std::int64_t planes = 1, groups = 1;  // of all samples
  bool channels_last = false;           // whether groups of planes follow one another, with the same weights

  VolumeUnit unit(const VolumeSizes& s, std::int64_t index) const {
    const std::int64_t group = channels_last ? index % groups : index / blocks;
    const std::int64_t first = (channels_last ? index / groups : index % blocks) * block;
    const std::int64_t end = std::min((group + 1) * planes, s.samples * s.depth.made);
    return {group * planes, end, first, std::min(block, s.outputs - first)};
  }
};

VolumeCut cut_volume(const VolumeSizes& s, const VolumeMaker& maker) {
  VolumeCut cut;
  const std::int64_t words = parts_of(s.inputs, maker.step), all_planes = s.samples * s.depth.made;
  cut.block = 2 * maker.lanes;
  cut.blocks = parts_of(s.outputs, cut.block);
  cut.channels_last = 4 * words * taps_of(s) * cut.block > near_weights;
  cut.planes = cut.channels_last ? parts_of(all_planes * cut.blocks, enough_units) : 1;
  cut.planes = std::min(cut.planes, all_planes);
  cut.groups = parts_of(all_planes, cut.planes);
  return cut;
}

class VolumeConvolution final : public Kernel {
 public:
  VolumeConvolution(const VolumeSizes& sizes, ElementType type, Instructions instructions, Added added)
      : sizes_(sizes),
        maker_(maker_of(instructions, type)),
        cut_(cut_volume(sizes, maker_)),
        words_(parts_of(sizes.inputs, maker_.step)),
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

  void run(const KernelArguments& arguments) override {
    auto* const weights = place<std::uint32_t>(arguments, 0);
    const std::int64_t stretches = parts_of(words_, arranged_together), pieces = cut_.blocks * stretches;
#pragma omp parallel for schedule(dynamic) if (pieces > 1)
    for (std::int64_t piece = 0; piece < pieces; ++piece)
      arrange(input<float>(arguments, 1), piece / stretches, piece % stretches * arranged_together, weights);
    const float* const bias = added_ == Added::bias ? input<float>(arguments, 2) : nullptr;
    const void* const start = added_ == Added::volume ? arguments.inputs[2] : nullptr;
    const std::int64_t units = cut_.blocks * cut_.groups;
#pragma omp parallel for schedule(dynamic) if (units > 1)
    for (std::int64_t index = 0; index < units; ++index)
      maker_.make(sizes_, cut_.unit(sizes_, index), arguments.inputs[0], weights, bias, start,
                  arguments.outputs[0]);
  }

 private:
  // Words first … of every lane of a block, from O,I,D,H,W (of the gradient, made channels are I) to
  // [phases][planes and rows of taps][words][taps of the phase][lanes].
  void arrange(const float* w, std::int64_t block, std::int64_t first, std::uint32_t* all) const {
    const std::int64_t first_output = block * cut_.block, end = std::min(first + arranged_together, words_);
    const std::int64_t lanes = whole_parts(std::min(cut_.block, sizes_.outputs - first_output), maker_.lanes);
    std::uint32_t* const weights = all + first_output * words_ * taps_of(sizes_);
    for (std::int64_t word = first; word < end; ++word)
      for (std::int64_t i = 0; i < sizes_.phase_count; ++i) {
        const Phase& phase = sizes_.phases[i];
        for (std::int64_t line = 0; line < slots(sizes_); ++line)
          for (std::int64_t tap = 0; tap < phase.taps; ++tap) {
            std::uint32_t* const to =
                weights + (phase.weights + (line * words_ + word) * phase.taps + tap) * lanes;
            const std::int64_t of_kernel = line * sizes_.width.kernel + phase.tap[tap];
            for (std::int64_t lane = 0; lane < lanes; ++lane)
              to[lane] = word_of(w, first_output + lane, word * maker_.step, of_kernel);
          }
      }
  }
  std::uint32_t word_of(const float* w, std::int64_t output, std::int64_t channel, std::int64_t tap) const {
    const float value = weight(w, output, channel, tap);
    std::uint32_t word = 0;
    if (!rounded_) {
      __builtin_memcpy(&word, &value, sizeof word);
      return word;
    }
    Bf16 low, high;
    round_to(&low, value);
    if (maker_.step == 1) return static_cast<std::uint32_t>(low.bits) << 16;  // widened again
    round_to(&high, weight(w, output, channel + 1, tap));
    return low.bits | static_cast<std::uint32_t>(high.bits) << 16;
  }
  float weight(const float* w, std::int64_t output, std::int64_t channel, std::int64_t tap) const {
    if (output >= sizes_.outputs || channel >= sizes_.inputs) return 0;
    const std::int64_t pair =
        sizes_.gradient ? channel * sizes_.outputs + output : output * sizes_.inputs + channel;
    return w[pair * taps_of(sizes_) + tap];
  }

  VolumeSizes sizes_;
  VolumeMaker maker_;
  VolumeCut cut_;
  std::int64_t words_;
  bool rounded_;
  Added added_;
  std::string implementation_;
};

}  // namespace

std::unique_ptr<Kernel> make_volume_convolution(const VolumeSizes& sizes, ElementType type,
                                                Instructions instructions, Added added) {
  assert(type == ElementType::f32 || type == ElementType::bf16);
  return std::make_unique<VolumeConvolution>(sizes, type, fitting(instructions, sizes.inputs), added);
}

}  // namespace voxswap::net::convolution
