// The states of one case on its way to the network:
//
//   CaseFiles --read_case--> Volume --prepare--> PreparedCase --normalize--> NormalizedCase
//
// read_case() is in data/cases, prepare() and normalize() are in data/prepare. PreparedCache::get() calls the
// first two, Cases::sample() the rest. Sizes are voxels along x, y, z; arrays are D,H,W,C or D,H,W, so x
// varies fastest (after the channel).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/voxel_grid.h"
#include "data/volumes/transforms.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// Intensities of one case before normalisation, over its foreground (voxels unlike the background). These
// alone decide the normalisation of a data set, so that its voxels need not be in memory.
struct CaseStatistics {
  std::vector<double> mean, deviation;  // per channel; population deviation
  std::vector<float> labelled;          // at most 10,000 labelled voxels of the crop, all channels of each
  std::vector<bool> missing;            // per channel, whether it is missing and set to 0; empty: none is

  bool lacks(std::size_t channel) const { return !missing.empty() && missing[channel]; }
};

// One case on the training grid, in the intensities of its files: the normalisation may depend on the
// statistics of all cases.
struct PreparedCase {
  std::string id;
  Size3 size{0, 0, 0};  // the training grid
  std::int64_t channels = 0;
  std::vector<float> image;  // D,H,W,C
  std::vector<std::int16_t>
      truth;  // D,H,W label values as in the data set (0 background); empty without ground truth
  CaseStatistics statistics;      // of the resized crop, or of the crop itself if a spacing is set
  std::vector<float> background;  // per channel, the value used
  VoxelBox box;                   // the crop, on the original grid
  Geometry original;              // the case's own grid, in the canonical frame (orientation.h)
  Geometry stored;                // the same grid in the file's orientation, for as_stored()

  bool lacks(std::size_t channel) const { return statistics.lacks(channel); }
  // World position of the training grid.
  Geometry training_geometry() const { return resample_geometry(crop_geometry(original, box), size); }
};

// One case, or a patch of it, as the network reads it.
struct NormalizedCase {
  Size3 size{0, 0, 0};
  Spacing spacing{1, 1, 1};
  std::int64_t channels = 0;
  std::vector<float> image;         // D,H,W,C
  std::vector<std::int16_t> truth;  // D,H,W label values; empty without ground truth
  std::vector<float> background{};  // per channel, the value of voxels outside a whole case
};

}  // namespace voxswap::data
