#include <algorithm>
#include <cassert>

#include "base/text.h"
#include "net/backends/convolution/pack.h"
#include "net/backends/convolution/sizes.h"
#include "net/backends/convolution/volume_convolution.h"
#include "net/backends/function_kernel.h"

namespace voxswap::net::convolution {

namespace {

constexpr std::int64_t arranged_together = 16;  // channels of weights

// Two voxels that begin at each voxel read form two phases, of every other voxel each.
VolumeSizes in_phases(VolumeSizes s) {
  if (s.phases[0].advance != 0) return s;
  s.phases[0] = {0, 2, s.width.read, 1, {1}, 0, 1, 0};
  s.phases[1] = {1, 2, s.width.read, 2, {2, 0}, 0, 1, 0};
  s.phase_count = 2;
  return s;
}

// As few chunks as possible, of equal length.
Run run_of(std::int64_t length) {
  Run run = {length, 2, 0};
  if (length < 2) return run;
  run.chunks = parts_of(length, tile_numbers);
  run.chunk = whole_parts(parts_of(length, run.chunks), 2);
  if (run.chunk <= length) return run;
  run.chunk = length - 1;
  ++run.chunks;
  return run;
}

TiledSizes tiled_sizes(const VolumeSizes& sizes) {
  TiledSizes tiled;
  tiled.sizes = in_phases(sizes);
  VolumeSizes& s = tiled.sizes;
  for (std::int64_t i = 0; i < s.phase_count; ++i) {
    Run& run = tiled.runs[i];
    run = run_of(s.phases[i].taps * s.inputs);
    s.phases[i].weights = tiled.block;
    tiled.block += s.depth.kernel * s.height.kernel * run.chunks * run.chunk / 2 * tile_lanes;
  }
  return tiled;
}

MakeTiledPlanes function_of(Instructions instructions) {
#if defined(__x86_64__)
  if (instructions == Instructions::amx) return make_tiled_planes_amx;
#endif
  assert(instructions == Instructions::emulated_amx);
  return make_tiled_planes_emulated;
}

class TiledConvolution final : public ObservableKernel {
 public:
  TiledConvolution(const VolumeSizes& sizes, Instructions instructions, Added added)
      : sizes_(tiled_sizes(sizes)),
        cut_(cut_volume(sizes_.sizes, tile_lanes, 0, sizes_.block / tile_lanes)),
        make_(function_of(instructions)),
        added_(added),
        implementation_(format("own:{}", instructions_name(instructions))) {}
  std::int64_t workspace_bytes() const override {
    return 4 * sizes_.block * parts_of(sizes_.sizes.outputs, tile_lanes);
  }
  std::string implementation() const override { return implementation_; }

  std::int64_t parts() const override { return parts_of(sizes_.sizes.height.made, cut_.part_rows); }

  void run_observed(const KernelArguments& arguments, const PartMade* made) override {
    auto* const weights = place<std::uint32_t>(arguments, 0);
    const VolumeSizes& s = sizes_.sizes;
    const std::int64_t chunks = parts_of(s.inputs, arranged_together),
                       tiles = parts_of(s.outputs, tile_lanes), tasks = tiles * chunks;
#pragma omp parallel for schedule(dynamic) if (tiles > 1)
    for (std::int64_t tile = 0; tile < tiles; ++tile)
      std::fill_n(weights + tile * sizes_.block, sizes_.block, 0u);
#pragma omp parallel for schedule(dynamic) if (tasks > 1)
    for (std::int64_t task = 0; task < tasks; ++task)
      arrange(input<float>(arguments, 1), task / chunks * tile_lanes, task % chunks * arranged_together,
              weights + task / chunks * sizes_.block);
    const float* const bias = added_ == Added::bias ? input<float>(arguments, 2) : nullptr;
    const void* const start = added_ == Added::volume ? arguments.inputs[2] : nullptr;
    const std::int64_t units = cut_.units();
#pragma omp parallel for schedule(dynamic) if (units > 1)
    for (std::int64_t index = 0; index < units; ++index)
      make_(sizes_, cut_.unit(s, index, made), arguments.inputs[0], weights, bias, start,
            arguments.outputs[0]);
  }

 private:
  // Arranges some channels from `first` on for a tile of outputs, from O,I,D,H,W (for a gradient, the outputs
  // are I). Padding stays zero.
  void arrange(const float* w, std::int64_t first_output, std::int64_t first, std::uint32_t* to) const {
    const VolumeSizes& s = sizes_.sizes;
    const std::int64_t taps = taps_of(s), end = std::min(first + arranged_together, s.inputs),
                       outputs = std::min<std::int64_t>(s.outputs - first_output, tile_lanes),
                       of_input = s.gradient ? s.outputs * taps : taps,
                       of_output = s.gradient ? taps : s.inputs * taps;
    auto* const numbers = reinterpret_cast<Bf16*>(to);
    for (std::int64_t channel = first; channel < end; ++channel)
      for (std::int64_t tap = 0; tap < taps; ++tap) {
        const float* from = w + first_output * of_output + channel * of_input + tap;
        Bf16* const at = numbers + place_of(tap, channel);
        for (std::int64_t lane = 0; lane < outputs; ++lane) round_to(at + 2 * lane, from[lane * of_output]);
      }
  }
  // Index of the first output's number for a tap and a channel.
  std::int64_t place_of(std::int64_t tap, std::int64_t channel) const {
    const VolumeSizes& s = sizes_.sizes;
    const std::int64_t line = tap / s.width.kernel, along = tap % s.width.kernel;
    for (std::int64_t i = 0; i < s.phase_count; ++i) {
      const Phase& phase = s.phases[i];
      const Run& run = sizes_.runs[i];
      for (std::int64_t t = 0; t < phase.taps; ++t) {
        if (phase.tap[t] != along) continue;
        const std::int64_t number = t * s.inputs + channel, chunk = number / run.chunk,
                           in_chunk = number - std::min(chunk * run.chunk, run.length - run.chunk);
        const std::int64_t row = ((line * run.chunks + chunk) * run.chunk + in_chunk) / 2;
        return 2 * (phase.weights + row * tile_lanes) + in_chunk % 2;
      }
    }
    return 0;  // not reached: every tap belongs to a phase
  }

  TiledSizes sizes_;
  VolumeCut cut_;
  MakeTiledPlanes make_;
  Added added_;
  std::string implementation_;
};

}  // namespace

bool is_tiled(const VolumeSizes& sizes) {
  const VolumeSizes s = in_phases(sizes);
  return std::none_of(s.phases, s.phases + s.phase_count,
                      [&](const Phase& phase) { return phase.taps * s.inputs == 1; });
}

std::unique_ptr<Kernel> make_tiled_convolution(const VolumeSizes& sizes, Instructions instructions,
                                               Added added) {
  return std::make_unique<TiledConvolution>(sizes, instructions, added);
}

}  // namespace voxswap::net::convolution
