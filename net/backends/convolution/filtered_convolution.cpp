#include "net/backends/convolution/filtered_convolution.h"

#include <algorithm>

#include "base/text.h"
#include "net/backends/convolution/filtered_cut.h"
#include "net/backends/convolution/observable_kernel.h"
#include "net/backends/convolution/volume_cut.h"
#include "net/backends/convolution/volume_units.h"
#include "net/backends/function_kernel.h"

namespace voxswap::net::convolution {

namespace {

constexpr std::int64_t arranged_together = 16;  // input channels of weights

constexpr OfInstructions<FilteredMaker> makers = {&filtered_maker_portable, nullptr,
#if defined(__x86_64__)
                                                  &filtered_maker_avx2, &filtered_maker_avx512
#endif
};

// Of a row of taps, for all lanes that are multiplied together.
using Taps = double[filter_taps][most_tile_outputs];
using Filters = float[frequencies][most_tile_outputs];

// G: three taps become frequencies, rounded once.
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
    const std::int64_t block = 2 * maker_.lanes, stretches = parts_of(sizes_.inputs, arranged_together),
                       pieces = parts_of(sizes_.outputs, block) * stretches;
#pragma omp parallel for schedule(dynamic) if (pieces > 1)
    for (std::int64_t piece = 0; piece < pieces; ++piece)
      arrange(input<float>(arguments, 1), piece / stretches * block, piece % stretches * arranged_together,
              weights);
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
  // Some input channels of the lanes of a block.
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
  // From O,I,D,H,W; of a gradient, what is made are I, and taps are mirrored.
  void read_taps(const float* w, std::int64_t made, std::int64_t read, std::int64_t line, std::int64_t lane,
                 Taps& to) const {
    const std::int64_t pair = sizes_.gradient ? read * sizes_.outputs + made : made * sizes_.inputs + read;
    const std::int64_t at = sizes_.gradient ? lines_ - 1 - line : line;
    const float* const from = w + (pair * lines_ + at) * filter_taps;
    for (std::int64_t tap = 0; tap < filter_taps; ++tap)
      to[tap][lane] = from[sizes_.gradient ? filter_taps - 1 - tap : tap];
  }

  VolumeSizes sizes_;  // of a forward convolution; `gradient` tells how weights lie
  FilteredMaker maker_;
  std::int64_t lines_;  // rows of taps
  FilteredCut cut_;
  Added added_;
  std::string implementation_;
};

}  // namespace

// Measured: transforms of fewer channels cost what products save, as do those of weights for fewer voxels.
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

}  // namespace voxswap::net::convolution
