// Distances between the surfaces of a region in ground truth and prediction, and scores derived from them.
//
// Surface: voxels of the region with at least one of the 6 neighbours outside the region; the outside of the
// grid is outside the region (the voxels that scipy.ndimage.binary_erosion removes by default). Distances are
// exact, in mm, between voxel centres, with the grid's own spacing. Every surface voxel counts once,
// regardless of the area of its faces.
#pragma once

#include <vector>

#include "metrics/mask.h"
#include "metrics/overlap.h"

namespace voxswap::metrics {

struct SurfaceDistances {
  // Distance of every surface voxel to the nearest voxel of the other surface; infinite if the other region
  // is empty.
  std::vector<double> from_truth, from_prediction;  // mm
};

Mask surface(const Mask& region);
// Both masks must be cut from the same box.
SurfaceDistances surface_distances(const Mask& truth, const Mask& prediction, const Spacing& spacing);

// The distance if a region is empty. brats: 0 if both are, 373.12866 mm (the diagonal of a BraTS volume) if
// one is. nnunet: NaN in both cases, as in its evaluator.
double empty_distance(bool both_empty, EmptyRule rule);

// The larger of the 95th percentiles (NumPy's default, linear between order statistics) of the two sets of
// directed distances.
double hd95(const SurfaceDistances& distances, EmptyRule rule);
// The maximum of all distances in both directions; a single distant voxel determines it.
double hausdorff(const SurfaceDistances& distances, EmptyRule rule);
// Mean of all distances in both directions (average symmetric surface distance, Heimann et al., IEEE TMI
// 28(8), 2009).
double average_surface_distance(const SurfaceDistances& distances, EmptyRule rule);
// Fraction of the voxels of both surfaces within `tolerance` mm of the other surface (Nikolov et al., arXiv
// 1809.04430, with voxels instead of surface elements). Empty regions as for Dice. Distances equal to the
// tolerance up to rounding count as within.
double surface_dice(const SurfaceDistances& distances, double tolerance, EmptyRule rule);

// Boundary IoU (Cheng et al., CVPR 2021), which Metrics Reloaded recommends in addition to Dice: the
// intersection over union of two regions' rims. It is sensitive to errors of the outline, even for structures
// so large that Dice hides them.
//
// The rim of a region: its voxels whose centres are within `width` mm of the centre of a surface voxel, which
// includes the surface itself.

// Voxel counts of both rims and their intersection. Both masks must be cut from the same box, which contains
// both regions.
Overlap rim_overlap(const Mask& truth, const Mask& prediction, double width, const Spacing& spacing);

// Empty regions as for Dice.
double boundary_iou(const Overlap& rims, EmptyRule rule);

// Exact Euclidean distances on an anisotropic grid (Felzenszwalb and Huttenlocher, "Distance transforms of
// sampled functions", Theory of Computing 8, 2012): one pass per axis, each a lower envelope of parabolas.
// Not based on ITK's filter, because metrics have no third-party dependencies, the code is short, and it
// works in double on a cropped mask.

// For each voxel, the squared distance in mm^2 from its centre to that of the nearest voxel inside the mask:
// 0 inside, infinity if the mask is empty.
std::vector<double> squared_distances(const Mask& mask, const Spacing& spacing);

}  // namespace voxswap::metrics
