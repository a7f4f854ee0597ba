// Sizes of a convolution, forward or data gradient, and of a unit of work, as the sources of all instruction
// sets see them. Plain data: code compiled for one instruction set must not be linked into another, so these
// have no inline functions.
#pragma once

#include <cstdint>

namespace voxswap::net::convolution {

// The voxel read under a tap: made stride - before + tap, or, for a gradient, (made + before - tap) / stride
// if that is an integer.
struct VolumeAxis {
  std::int64_t read = 1, made = 1;  // sides of the two volumes
  std::int64_t kernel = 1, stride = 1, before = 0;
};

constexpr int most_taps = 3;    // along an axis
constexpr int most_phases = 2;  // of a stride

// Voxels of a row that read with the same taps: first, first + step, … . Voxel number q reads from start + q
// advance, one voxel per tap. Advance 0: all voxels are in this phase, and two of them begin at each voxel
// that is read; with three taps the first begins one voxel earlier.
struct Phase {
  std::int64_t first = 0, step = 1, count = 0;
  std::int64_t taps = 1, tap[most_taps] = {};
  std::int64_t start = 0, advance = 1;
  std::int64_t weights = 0;  // words before this phase's, of those of one output channel
};

struct VolumeSizes {
  std::int64_t samples = 1, inputs = 1, outputs = 1;  // channels read and made
  bool gradient = false;
  VolumeAxis depth, height, width;
  Phase phases[most_phases];
  std::int64_t phase_count = 1;
};

// What products are added to: nothing, a bias per output channel, or a volume like the output.
enum class Added { nothing, bias, volume };

// A part of a plane that has just been made, for some output channels. It can be summed while in cache.
struct PlanePart {
  std::int64_t plane = 0;              // of all samples
  std::int64_t part = 0;               // of the plane, in order of rows and voxels
  std::int64_t row = 0, rows = 1;      // of the plane
  std::int64_t voxel = 0, voxels = 1;  // of each row
  std::int64_t first_output = 0, outputs = 1;
};
// Called for each part, by the thread that made it.
struct PartMade {
  void (*call)(const void* context, const PlanePart& part) = nullptr;
  const void* context = nullptr;
};

// A unit of work: some planes of all samples, and some blocks of two registers of output channels or of one.
struct VolumeUnit {
  std::int64_t from = 0, to = 0;
  std::int64_t first_output = 0, outputs = 1;
  std::int64_t part_rows = 1;      // of a part of a plane
  const PartMade* made = nullptr;  // who is notified
};

constexpr std::int64_t most_inputs = 1024;      // channels that are read
constexpr std::int64_t most_tile_voxels = 26;   // that a tile makes at a time
constexpr std::int64_t most_tile_outputs = 32;  // channels that it makes of them
constexpr std::int64_t most_unit_outputs = 512;

// y = w x, + bias per channel, + start per voxel if not null.
using MakePlanes = void (*)(const VolumeSizes&, const VolumeUnit&, const void* x,
                            const std::uint32_t* weights, const float* bias, const void* start, void* y);

// What the source of an instruction set exports for a type. Weights: per block of two registers of lanes,
// [phases][planes and rows of taps][words][taps of the phase][lanes].
struct VolumeMaker {
  MakePlanes make;
  std::int64_t lanes;  // output channels per register
  std::int64_t step;   // input channels per word
};

}  // namespace voxswap::net::convolution
