// Exact Euclidean distances on an anisotropic grid (Felzenszwalb and Huttenlocher, "Distance transforms of
// sampled functions", Theory of Computing 8, 2012): one pass per axis, each the lower envelope of parabolas.
//
// It stands here and not on ITK's filter because metrics are pure functions without third parties, it is
// short, and it works in double on a mask that was cut to what matters.
#pragma once

#include <vector>

#include "metrics/mask.h"

namespace voxswap::metrics {

// Per voxel the squared distance in mm^2 between its centre and the centre of the nearest voxel inside the
// mask: 0 inside, infinity where the mask is empty.
std::vector<double> squared_distances(const Mask& mask, const Spacing& spacing);

}  // namespace voxswap::metrics
