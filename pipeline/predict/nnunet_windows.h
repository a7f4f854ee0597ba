// Averages the logits of overlapping windows with the arithmetic of nnU-Net 2 (nnUNetPredictor), so that its
// networks give the same labels: Gaussian weights as float16, and sums of weights and of weighted logits that
// are rounded to float16 after each window. In the corners of a volume, where weights are as small as 6e-8,
// this rounding is coarse.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "pipeline/cases/windows.h"

namespace voxswap::pipeline {

class NnunetSums : public WindowSums {
 public:
  NnunetSums(const Size3& volume, const Size3& window, double overlap, std::int64_t channels,
             Scratch& scratch);
  std::vector<VoxelBox> layer() const override;
  void finish_layer(const TakePlanes& take) override;

 private:
  void add_planes(const VoxelBox& window, std::int64_t first, std::span<const float> planes) override;

  std::array<std::vector<std::int64_t>, 3> starts_;
  std::size_t layer_ = 0;
  std::vector<float> of_window_;  // weights
  PlaneRing weights_;             // their sums, rounded to float16 as those of logits are
};

// The weights of a window, D,H,W: scipy.ndimage.gaussian_filter of a single voxel at its centre, sigma an
// eighth of its sides, scaled to a maximum of 10. Values that vanish in float16 become its smallest one.
std::vector<float> nnunet_weights(const Size3& window);

}  // namespace voxswap::pipeline
