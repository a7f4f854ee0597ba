// The numbers of a convolution that makes a volume, forward or as the gradient of its input, and of the work
// that is cut from it, as the sources of every instruction set see them. Plain, because what is compiled for
// one instruction set must not be linked into another: no function of these may be inline.
#pragma once

#include <cstdint>

namespace voxswap::net::convolution {

// Which voxel a voxel that is made reads under a tap: made stride - before + tap, or, of the gradient,
// (made + before - tap) / stride where that leaves no rest.
struct VolumeAxis {
  std::int64_t read = 1, made = 1;  // sides of the two volumes
  std::int64_t kernel = 1, stride = 1, before = 0;
};

constexpr int most_taps = 3;    // along an axis
constexpr int most_phases = 2;  // of a stride

// Voxels of a row that read with the same taps: first, first + step, … . Number q of these reads from
// start + q advance on, a voxel for each tap. Advance 0: all voxels are of this phase, and two of them begin
// at every voxel that is read, of three taps the first one at the voxel before.
struct Phase {
  std::int64_t first = 0, step = 1, count = 0;
  std::int64_t taps = 1, tap[most_taps] = {};
  std::int64_t start = 0, advance = 1;
  std::int64_t weights = 0;  // words before this phase's, of those of one output channel
};

struct VolumeSizes {
  std::int64_t samples = 1, inputs = 1, outputs = 1;  // channels that are read and made
  bool gradient = false;
  VolumeAxis depth, height, width;
  Phase phases[most_phases];
  std::int64_t phase_count = 1;
};

// What products are added to: nothing, a number per channel that is made, or a volume like the one made.
enum class Added { nothing, bias, volume };

// A part of a plane that has just been made, of some output channels: while it is near, it can be summed.
struct PlanePart {
  std::int64_t plane = 0;              // of all samples
  std::int64_t part = 0;               // of the plane, in order of rows and voxels
  std::int64_t row = 0, rows = 1;      // of the plane
  std::int64_t voxel = 0, voxels = 1;  // of each row
  std::int64_t first_output = 0, outputs = 1;
};
// Is told of every part, by the thread that made it.
struct PartMade {
  void (*call)(const void* context, const PlanePart& part) = nullptr;
  const void* context = nullptr;
};

// Some planes of all samples, of some blocks of two registers of output channels, or of one register.
struct VolumeUnit {
  std::int64_t from = 0, to = 0;
  std::int64_t first_output = 0, outputs = 1;
  std::int64_t part_rows = 1;      // of a part of a plane
  const PartMade* made = nullptr;  // who is told of it
};

constexpr std::int64_t most_inputs = 1024;      // channels that are read
constexpr std::int64_t most_tile_voxels = 26;   // that a tile makes at a time
constexpr std::int64_t most_tile_outputs = 32;  // channels that it makes of them
constexpr std::int64_t most_unit_outputs = 512;

// y = w x, + bias of channels, + start of voxels where they are not null.
using MakePlanes = void (*)(const VolumeSizes&, const VolumeUnit&, const void* x,
                            const std::uint32_t* weights, const float* bias, const void* start, void* y);

// What a source of an instruction set gives for a type. Weights are, for every block of two registers of
// lanes, [phases][planes and rows of taps][words][taps of the phase][lanes].
struct VolumeMaker {
  MakePlanes make;
  std::int64_t lanes;  // output channels of a register
  std::int64_t step;   // input channels of a word
};

}  // namespace voxswap::net::convolution
