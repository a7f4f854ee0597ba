// Minimal filtering along rows (Winograd; Lavin and Gray, "Fast Algorithms for Convolutional Neural
// Networks", CVPR 2016): four voxels of a row under three taps are made of six products in place of twelve.
//
//   y = A [ (G g) * (B x) ]      g: three taps; x: the six voxels that four of y read; * number by number
//
// Six numbers of x and six of g are values of polynomials at six points: 0, both signs of near_point and
// far_point, and infinity. Each is convolved by itself over planes, rows and channels, here called a
// frequency, and A makes voxels of the six sums. All powers of the points that A and B have are exact in f32.
// Root mean square errors beside double, over those of products one by one (bench/filtering_points.cpp, 64
// channels, uniform and rectified numbers): 1.3 and 1.5; with the usual points, 1 and 2, 1.9 and 2.2; F(2,3),
// which saves a third of the products in place of half, 0.75 and 0.87. Plain, as volume_sizes.h is.
#pragma once

#include <cstdint>

#include "net/backends/convolution/volume_sizes.h"

namespace voxswap::net::convolution {

constexpr int filter_taps = 3, filtered_voxels = 4, frequencies = 6;
constexpr float near_point = 0.6875F, far_point = 1.5F;

constexpr std::int64_t filtered_channels = 16;  // of x that lie together when they are transformed

// Some tiles of four voxels of some rows of some planes.
struct FilteredStrip {
  std::int64_t sample = 0, plane = 0, planes = 1, row = 0, rows = 1, tile = 0, tiles = 1;
};

// Of output channels one block of two registers or several, or one of one register.
struct FilteredUnit {
  FilteredStrip strip;
  std::int64_t first_output = 0, outputs = 1;
  std::int64_t part = 0;           // of every plane
  const PartMade* made = nullptr;  // who is told of it
};

// What a thread needs beside: transformed rows of x, and sums.
constexpr std::int64_t filtered_numbers = 72 << 10, filtered_sums = 20 << 10;
struct FilteredScratch {
  alignas(64) float x[filtered_numbers];
  alignas(64) float sums[filtered_sums];
};

// y = w x, + bias of channels, + start of voxels where they are not null. Sizes are those of a forward
// convolution: those of a gradient have been turned.
using MakeFiltered = void (*)(const VolumeSizes&, const FilteredUnit&, const float* x, const float* weights,
                              const float* bias, const float* start, float* y, FilteredScratch& scratch);

// What a source of an instruction set gives. Weights are, for every block of two registers of lanes,
// [frequencies][planes and rows of taps][input channels][lanes].
struct FilteredMaker {
  MakeFiltered make;
  std::int64_t lanes;  // output channels of a register
};

}  // namespace voxswap::net::convolution
