// Averages the logits of overlapping windows with the arithmetic of nnU-Net 2 (nnUNetPredictor), so that its
// networks give the same labels: Gaussian weights as float16, and sums of weights and of weighted logits that
// are rounded to float16 after each window. In the corners of a volume, where weights are as small as 6e-8,
// this rounding is coarse.
#pragma once

#include <functional>
#include <vector>

#include "pipeline/cases/patches.h"

namespace voxswap::pipeline {

// As stitch() (pipeline/cases/patches.h): `compute` returns D,H,W,`channels` of a window's box. Passes planes
// to `take` as soon as no further window covers them; buffers one window depth of planes.
void stitch_as_nnunet(const Size3& volume, const Size3& window, double overlap, std::int64_t channels,
                      const std::function<std::vector<float>(const VoxelBox&)>& compute,
                      const TakePlanes& take);

// The weights of a window, D,H,W: scipy.ndimage.gaussian_filter of a single voxel at its centre, sigma an
// eighth of its sides, scaled to a maximum of 10. Values that vanish in float16 become its smallest one.
std::vector<float> nnunet_weights(const Size3& window);

}  // namespace voxswap::pipeline
