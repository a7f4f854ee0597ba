// Boundary IoU (Cheng et al., CVPR 2021), which Metrics Reloaded recommends beside Dice: the intersection
// over union of two regions' rims. It falls with every error of the outline, also of structures so large that
// Dice hides it.
//
// A region's rim: its voxels whose centres are at most `width` mm from that of one of its surface voxels
// (metrics/surface.h), so that the surface itself always belongs to it.
#pragma once

#include "metrics/mask.h"
#include "metrics/overlap.h"

namespace voxswap::metrics {

// Voxels of both rims, and of their intersection. Both masks are cut from the same box, around both regions.
Overlap rim_overlap(const Mask& truth, const Mask& prediction, double width, const Spacing& spacing);

// Empty regions as for Dice.
double boundary_iou(const Overlap& rims, EmptyRule rule);

}  // namespace voxswap::metrics
