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

}  // namespace voxswap::metrics
