// Voxels with their position in the world: the representation of every image in the program.
//
// Grids are stored x fastest, then y, then z, as in the file. World coordinates are ITK's: millimetres, LPS.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/voxel_grid.h"

namespace voxswap::data {

struct Geometry {
  Size3 size{0, 0, 0};                                         // voxels
  Spacing spacing{1, 1, 1};                                    // mm
  std::array<double, 3> origin{0, 0, 0};                       // mm, centre of voxel (0,0,0)
  std::array<double, 9> direction{1, 0, 0, 0, 1, 0, 0, 0, 1};  // row-major, columns are the axes

  std::int64_t count() const { return size[0] * size[1] * size[2]; }
  bool operator==(const Geometry&) const = default;
};

// Same size, and spacing, origin and direction equal up to rounding by file formats (1e-4 mm, 1e-5 of a
// cosine).
bool same_grid(const Geometry& a, const Geometry& b);
std::string describe(const Geometry& geometry);  // "240x240x155 voxels of 1x1x1 mm at (0, -239, 0)"

template <class T>
struct Grid {
  Geometry geometry;
  std::vector<T> voxels;  // geometry.count() of them

  T& at(std::int64_t x, std::int64_t y, std::int64_t z) {
    return voxels[static_cast<std::size_t>((z * geometry.size[1] + y) * geometry.size[0] + x)];
  }
  const T& at(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return voxels[static_cast<std::size_t>((z * geometry.size[1] + y) * geometry.size[0] + x)];
  }
};

using Image = Grid<float>;
using LabelMap = Grid<std::int16_t>;

// One case as read: its modalities on one common grid in the canonical frame (orientation.h), and the ground
// truth if it has one.
struct Volume {
  std::string id;
  std::vector<Image> channels;  // in the order of Dataset::modalities
  LabelMap truth;               // geometry.size is 0,0,0 without ground truth
  Geometry file_geometry{};  // of the first channel's file, before reorientation; size 0,0,0 if there is none
  std::vector<bool> missing{};  // per channel, whether it is missing and set to 0; empty: none is
  // The label map that the first network of a cascade predicted. Each of `labels` becomes a channel; without
  // a cascade, both are empty.
  struct Previous {
    LabelMap map{};
    std::vector<int> labels{};
  } previous{};

  bool lacks(std::size_t channel) const { return !missing.empty() && missing[channel]; }
  bool has_truth() const { return !truth.voxels.empty(); }
  const Geometry& geometry() const { return channels.front().geometry; }
  const Geometry& stored() const { return file_geometry.count() > 0 ? file_geometry : geometry(); }
};

// Names of the values of a label map, and the regions that are scored: a named label value, or a named set of
// them. Both keep the order in which they are written.
using Labels = std::vector<std::pair<std::string, int>>;                // {necrosis: 1, oedema: 2, …}
using Regions = std::vector<std::pair<std::string, std::vector<int>>>;  // {whole_tumor: [1, 2, 4], …}

}  // namespace voxswap::data
