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
// of the products instead of half, 0.75 and 0.87. Plain data, as volume_sizes.h is.
#pragma once

#include <cstdint>

#include "net/backends/convolution/volume_sizes.h"

namespace voxswap::net::convolution {

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
  const PartMade* made = nullptr;  // who is notified
};

// Scratch per thread: transformed rows of x, and sums.
constexpr std::int64_t filtered_numbers = 72 << 10, filtered_sums = 20 << 10;
struct FilteredScratch {
  alignas(64) float x[filtered_numbers];
  alignas(64) float sums[filtered_sums];
};

// y = w x, + bias per channel, + start per voxel if not null. Sizes are those of a forward convolution; those
// of a gradient were converted.
using MakeFiltered = void (*)(const VolumeSizes&, const FilteredUnit&, const float* x, const float* weights,
                              const float* bias, const float* start, float* y, FilteredScratch& scratch);

// What the source of an instruction set exports. Weights: per block of two registers of lanes,
// [frequencies][planes and rows of taps][input channels][lanes].
struct FilteredMaker {
  MakeFiltered make;
  std::int64_t lanes;  // output channels per register
};

}  // namespace voxswap::net::convolution
