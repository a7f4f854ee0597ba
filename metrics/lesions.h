// Lesion-wise Dice and HD95 of the BraTS challenges since 2023, as their published evaluation computes them
// (github.com/rachitsaluja/BraTS-2023-Metrics):
//
//  1. The truth is dilated `dilation` times by the 18-neighbourhood; its voxels that lie in one connected
//     component (26 neighbours) of that are one lesion, so that fragments near each other count as one.
//  2. A lesion is found by every connected component of the prediction that meets its dilated shape. Its Dice
//     and HD95 are between its own (not dilated) voxels and all of those components together; a component may
//     find several lesions.
//  3. A lesion that nothing finds has Dice 0 and HD95 374. Lesions of at most `volume` mm^3 are left out
//     after that. A component that finds no lesion, however small, is a false positive: Dice 0, HD95 374.
//  4. Both scores are means over lesions left and false positives. Where there are neither: Dice 1, HD95 0
//     under the rule brats, NaN under nnunet.
//
// One thing differs: HD95 is between surface voxels (metrics/surface.h), where the challenge weighs surface
// elements by area. docs/results/agreement.md says by how much.
#pragma once

#include <cstdint>
#include <vector>

#include "metrics/mask.h"
#include "metrics/overlap.h"

namespace voxswap::metrics {

struct LesionOptions {
  std::int64_t dilation = 3;  // times; the challenge's for gliomas, paediatric and African cases; else 1
  double volume = 50;         // mm^3; metastases: 2
};

struct LesionScores {
  double dice = 0, hd95 = 0;
  std::int64_t found = 0, missed = 0, false_positives = 0;  // lesions above the volume; components
};

// Both masks are cut from the same box, which reaches `dilation` voxels beyond both regions or to the grid's
// border.
LesionScores lesion_scores(const Mask& truth, const Mask& prediction, const Spacing& spacing,
                           const LesionOptions& options, EmptyRule rule);

// Connected components of a region: voxels that touch with a face, an edge or a corner (26 neighbours) belong
// together, as in the BraTS challenge.
struct Components {
  std::vector<std::int32_t> labels;  // per voxel: 1, 2, … in the order of their first voxels; 0 outside
  std::vector<std::int64_t> sizes;   // voxels of component 1, 2, …
};

Components connected_components(const Mask& mask);

}  // namespace voxswap::metrics
