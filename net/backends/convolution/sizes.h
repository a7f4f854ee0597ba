// Sizes and units of work of convolutions, and the exports of the sources for each instruction set
// (kernels_*.cpp, tiled_*.cpp). Plain data: code compiled for one instruction set must not be linked into
// another, so there are no inline functions here.
#pragma once

#include <cstdint>

namespace voxswap::net::convolution {

// Convolutions, forward or data gradient.
//
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
  std::int64_t weights = 0;  // words before this phase's, per output channel
};

struct VolumeSizes {
  std::int64_t samples = 1, inputs = 1, outputs = 1;  // channels read and made
  bool gradient = false;
  VolumeAxis depth, height, width;
  Phase phases[most_phases];
  std::int64_t phase_count = 1;
};

// The initial value to which products are added: zero, a bias per output channel, or a volume like the
// output.
enum class Added { nothing, bias, volume };

// A part of a plane that has just been made, for some output channels. It can be summed while in cache.
struct PlanePart {
  std::int64_t plane = 0;              // index over all samples
  std::int64_t part = 0;               // index within the plane, in order of rows and voxels
  std::int64_t row = 0, rows = 1;      // within the plane
  std::int64_t voxel = 0, voxels = 1;  // within each row
  std::int64_t first_output = 0, outputs = 1;
};
// Called for each part, by the thread that made it.
struct PartMade {
  void (*call)(const void* context, const PlanePart& part) = nullptr;
  const void* context = nullptr;
};

// A unit of work: some planes of all samples, and some blocks of one or two registers of output channels.
struct VolumeUnit {
  std::int64_t from = 0, to = 0;
  std::int64_t first_output = 0, outputs = 1;
  std::int64_t part_rows = 1;      // per part of a plane
  const PartMade* made = nullptr;  // observer of finished parts
};

constexpr std::int64_t most_inputs = 1024;      // channels that are read
constexpr std::int64_t most_tile_voxels = 26;   // that a tile makes at a time
constexpr std::int64_t most_tile_outputs = 32;  // output channels per tile
constexpr std::int64_t most_unit_outputs = 512;

// y = w x, + bias per channel, + start per voxel if not null.
using MakePlanes = void (*)(const VolumeSizes&, const VolumeUnit&, const void* x,
                            const std::uint32_t* weights, const float* bias, const void* start, void* y);

// The exports of an instruction set's source for a type. Weights: per block of two registers of lanes,
// [phases][planes and rows of taps][words][taps of the phase][lanes].
struct VolumeMaker {
  MakePlanes make;
  std::int64_t lanes;  // output channels per register
  std::int64_t step;   // input channels per word
};

// Weight gradients.
struct Axis {
  std::int64_t input = 1, output = 1;  // sides of the input and of the output volume
  std::int64_t kernel = 1, stride = 1, before = 0, dilation = 1;
};

struct Sizes {
  std::int64_t samples = 1, inputs = 1, outputs = 1;  // channels of x and of y
  Axis depth, height, width;
};

// A slab of dy: a range of planes, rows and voxels. The part of x that it reads is packed.
struct Slab {
  std::int64_t planes = 1, rows = 1, width = 1;
  std::int64_t down = 1, across = 1;  // slabs per plane
  bool together = false;              // all planes of x that it reads are packed at once
};

// Slabs from <= slab < to of some planes of all samples, for some channels. Sums are [taps][inputs][lanes].
struct WeightUnit {
  std::int64_t first_plane = 0, planes = 1;
  std::int64_t from = 0, to = 0;
  std::int64_t first_input = 0, inputs = 1;
  std::int64_t first_output = 0, outputs = 1, lanes = 16;
};

constexpr std::int64_t packed_words = 12 << 10;  // for one slab of x and one block of channels
constexpr std::int64_t packed_channels = 16;     // per block

// Adds the products of x and dy over the unit's slabs to its sums. x: address of each plane of each sample.
// `packed`: buffer of packed_words.
using AddWeightUnit = void (*)(const Sizes&, const Slab&, const WeightUnit&, const void* const* x,
                               const void* dy, float* sums, std::uint32_t* packed);

// Tiles of Intel's AMX: eight registers of up to 16 rows of 64 bytes; the product of two tiles is added to a
// third. Kernels are written once against a type with these functions, where N, A, B and C are tile numbers:
//
//   configure(shapes)           sets the tiles' shapes; all become zero
//   zero<N>()
//   load<N>(from, stride)       reads exactly the bytes of each row, `stride` bytes from row to row
//   store<N>(to, stride)
//   multiply_add<C, A, B>()     C[m][n] += sum over k of A[m][2 k] B[k][2 n] + A[m][2 k + 1] B[k][2 n + 1]
//   release()                   the thread no longer needs tiles
//
// There are two such types: the processor's instructions (tiles_amx.h), and plain C++ with the same results
// for any processor (tiles_emulated.h).
constexpr int tile_rows = 16, tile_bytes = 64;  // maximum
constexpr int tile_numbers = 32;                // bf16 per row
constexpr int tile_lanes = 16;                  // f32 per row

// The operand of the instruction that configures tiles.
struct TileShapes {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};
};
static_assert(sizeof(TileShapes) == 64);

// Convolutions in tiles (tiled_rows.h).

// The part of a row that a voxel reads under the taps of a phase: all channels of one voxel per tap,
// contiguous. A product takes a chunk of it: an even number, at most 32, at most the run's length. The last
// chunk overlaps the previous one and has zero weights there (so an infinity may become NaN).
struct Run {
  std::int64_t length = 0;
  std::int64_t chunk = 2, chunks = 0;
};

struct TiledSizes {
  VolumeSizes sizes;  // without phases of advance 0; weights are counted in words of a tile of outputs
  Run runs[most_phases];
  std::int64_t block = 0;  // words of the weights of a tile of output channels
};

// y = w x, + bias per channel, + start per voxel if not null. Weights: per sixteen output channels,
// [phases][planes and rows of taps][chunks][pairs of a chunk][output channels].
using MakeTiledPlanes = void (*)(const TiledSizes&, const VolumeUnit&, const void* x,
                                 const std::uint32_t* weights, const float* bias, const void* start, void* y);

// Minimal filtering along rows (Winograd; Lavin and Gray, "Fast Algorithms for Convolutional Neural
// Networks", CVPR 2016): four voxels of a row with three taps take six products instead of twelve.
//
//   y = A [ (G g) * (B x) ]      g: three taps; x: the six voxels that four of y read; * elementwise
//
// G g and B x are values of polynomials at six points: 0, both signs of near_point and far_point, and
// infinity. Each point (called a frequency here) is convolved separately over planes, rows and channels. A
// turns the six sums into voxels. Powers of the points in A and B are exact in f32. Root mean square errors
// relative to direct products (reference in double; bench/filtering_points.cpp, 64 channels, uniform and
// rectified numbers): 1.3 and 1.5; with the usual points, 1 and 2, 1.9 and 2.2; F(2,3), which saves a third
// of the products instead of half, 0.75 and 0.87.
constexpr int filter_taps = 3, filtered_voxels = 4, frequencies = 6;
constexpr float near_point = 0.6875F, far_point = 1.5F;

constexpr std::int64_t filtered_channels = 16;  // channels of x stored together after the transform

// A range of tiles (four voxels each), rows and planes.
struct FilteredStrip {
  std::int64_t sample = 0, plane = 0, planes = 1, row = 0, rows = 1, tile = 0, tiles = 1;
};

// The output channels of a unit: one or more blocks of two registers, or one block of one register.
struct FilteredUnit {
  FilteredStrip strip;
  std::int64_t first_output = 0, outputs = 1;
  std::int64_t part = 0;           // index of the unit in its plane
  const PartMade* made = nullptr;  // observer of finished parts
};

// Scratch per thread: transformed rows of x, and sums.
constexpr std::int64_t filtered_numbers = 72 << 10, filtered_sums = 20 << 10;
struct FilteredScratch {
  alignas(64) float x[filtered_numbers];
  alignas(64) float sums[filtered_sums];
};

// y = w x, + bias per channel, + start per voxel if not null. Sizes are those of a forward convolution;
// gradients were converted to one.
using MakeFiltered = void (*)(const VolumeSizes&, const FilteredUnit&, const float* x, const float* weights,
                              const float* bias, const float* start, float* y, FilteredScratch& scratch);

// The exports of an instruction set's source. Weights: per block of two registers of lanes,
// [frequencies][planes and rows of taps][input channels][lanes].
struct FilteredMaker {
  MakeFiltered make;
  std::int64_t lanes;  // output channels per register
};

// Scratch per thread for a weight gradient by minimal filtering (filtered_weights.h), and limits of a unit.
constexpr std::int64_t filtered_lanes = 32;                    // maximum of output channels per unit
constexpr std::int64_t filtered_gradients = 36 << 10;          // numbers of dy per plane of a slab
constexpr std::int64_t filtered_taps = most_taps * most_taps;  // planes and rows of them
struct FilteredWeightScratch {
  alignas(64) float x[filtered_numbers];
  alignas(64) float dy[filtered_gradients];
  alignas(64) float sums[frequencies * filtered_taps * filtered_channels * filtered_lanes];
};

// The kernels: for f32 and bf16, and minimal filtering for f32.
extern const VolumeMaker volume_maker_portable[2];
extern const VolumeMaker volume_maker_avx2[2];
extern const VolumeMaker volume_maker_avx512[2];
extern const VolumeMaker volume_maker_avx512_bf16;
extern const FilteredMaker filtered_maker_portable;
extern const FilteredMaker filtered_maker_avx2;
extern const FilteredMaker filtered_maker_avx512;
extern const AddWeightUnit add_weight_unit_portable[2];
extern const AddWeightUnit add_weight_unit_avx2[2];
extern const AddWeightUnit add_weight_unit_avx512[2];
extern const AddWeightUnit add_weight_unit_avx512_bf16;
extern const AddWeightUnit add_filtered_unit_portable;
extern const AddWeightUnit add_filtered_unit_avx2;
extern const AddWeightUnit add_filtered_unit_avx512;
// With tile products.
extern const MakeTiledPlanes make_tiled_planes_amx;
extern const MakeTiledPlanes make_tiled_planes_emulated;
extern const AddWeightUnit add_weight_unit_amx;
extern const AddWeightUnit add_weight_unit_emulated_amx;

}  // namespace voxswap::net::convolution
