// Distances between the surfaces of a region in truth and prediction, and the scores made of them.
//
// Surface: the region's voxels of which one of the 6 neighbours is outside the region; what lies outside the
// grid is outside the region (as scipy.ndimage.binary_erosion with its defaults takes away). Distances are
// exact, in mm, from centre to centre, with the grid's own spacing. Every surface voxel counts once, however
// large its faces.
#pragma once

#include <vector>

#include "metrics/mask.h"
#include "metrics/overlap.h"

namespace voxswap::metrics {

struct SurfaceDistances {
  // Of every surface voxel, to the nearest of the other surface; infinite where the other region is empty.
  std::vector<double> from_truth, from_prediction;  // mm
};

Mask surface(const Mask& region);
// Both masks are cut from the same box.
SurfaceDistances surface_distances(const Mask& truth, const Mask& prediction, const Spacing& spacing);

// What a distance is where a region is empty. brats: 0 for both, 373.12866 mm (the diagonal of a BraTS
// volume) for one. nnunet: NaN for both and for one, as in its evaluator.
double empty_distance(bool both_empty, EmptyRule rule);

// The larger of the 95th percentiles (NumPy's default, linear between order statistics) of the two directed
// distances.
double hd95(const SurfaceDistances& distances, EmptyRule rule);
// The largest of all distances, both ways: one voxel far off decides it.
double hausdorff(const SurfaceDistances& distances, EmptyRule rule);
// Mean of all distances, both ways together (Heimann et al., IEEE TMI 28(8), 2009: average symmetric surface
// distance).
double average_surface_distance(const SurfaceDistances& distances, EmptyRule rule);
// Share of the voxels of both surfaces that are at most `tolerance` mm away from the other (Nikolov et al.,
// arXiv 1809.04430, of voxels in place of surface elements). Empty regions as for Dice. A distance that is
// the tolerance but for rounding is within.
double surface_dice(const SurfaceDistances& distances, double tolerance, EmptyRule rule);

// Boundary IoU (Cheng et al., CVPR 2021), which Metrics Reloaded recommends beside Dice: the intersection
// over union of two regions' rims. It falls with every error of the outline, also of structures so large that
// Dice hides it.
//
// A region's rim: its voxels whose centres are at most `width` mm from that of one of its surface voxels
// (metrics/surface.h), so that the surface itself always belongs to it.

// Voxels of both rims, and of their intersection. Both masks are cut from the same box, around both regions.
Overlap rim_overlap(const Mask& truth, const Mask& prediction, double width, const Spacing& spacing);

// Empty regions as for Dice.
double boundary_iou(const Overlap& rims, EmptyRule rule);

// Exact Euclidean distances on an anisotropic grid (Felzenszwalb and Huttenlocher, "Distance transforms of
// sampled functions", Theory of Computing 8, 2012): one pass per axis, each the lower envelope of parabolas.
//
// It stands here and not on ITK's filter because metrics are pure functions without third parties, it is
// short, and it works in double on a mask that was cut to what matters.

// Per voxel the squared distance in mm^2 between its centre and the centre of the nearest voxel inside the
// mask: 0 inside, infinity where the mask is empty.
std::vector<double> squared_distances(const Mask& mask, const Spacing& spacing);

}  // namespace voxswap::metrics
