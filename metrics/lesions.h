// Lesion-wise Dice and HD95 of the BraTS challenges since 2023, as computed by their published evaluation
// (github.com/rachitsaluja/BraTS-2023-Metrics):
//
//  1. The ground truth is dilated `dilation` times with the 18-neighbourhood. Its voxels inside one
//     26-connected component of the dilated mask are one lesion, so that nearby fragments count as one.
//  2. A lesion is found by every connected component of the prediction that overlaps its dilated shape. Its
//     Dice and HD95 compare its own (not dilated) voxels with all these components together. A component may
//     find several lesions.
//  3. A lesion that is not found has Dice 0 and HD95 374. Afterwards, lesions of at most `volume` mm^3 are
//     excluded. A component that finds no lesion is a false positive, whatever its size: Dice 0, HD95 374.
//  4. Both scores are means over the remaining lesions and the false positives. If there are neither: Dice 1,
//     HD95 0 under the rule brats, NaN under nnunet.
//
// One difference: HD95 is measured between surface voxels (metrics/surface.h), whereas the challenge weights
// surface elements by area. docs/results/agreement.md quantifies it.
#pragma once

#include <cstdint>
#include <vector>

#include "metrics/mask.h"
#include "metrics/overlap.h"

namespace voxswap::metrics {

struct LesionOptions {
  std::int64_t dilation =
      3;  // iterations; as in the challenge for gliomas, paediatric and African cases; otherwise 1
  double volume = 50;  // mm^3; for metastases 2
  bool operator==(const LesionOptions&) const = default;
};

struct LesionScores {
  double dice = 0, hd95 = 0;
  std::int64_t found = 0, missed = 0, false_positives = 0;  // lesions above the volume; predicted components
};

// Both masks must be cut from the same box, which extends `dilation` voxels beyond both regions or to the
// border of the grid.
LesionScores lesion_scores(const Mask& truth, const Mask& prediction, const Spacing& spacing,
                           const LesionOptions& options, EmptyRule rule);

// Connected components of a region with the 26-neighbourhood (faces, edges and corners), as in the BraTS
// challenge.
struct Components {
  std::vector<std::int32_t> labels;  // per voxel: 1, 2, … in the order of first voxels; 0 outside
  std::vector<std::int64_t> sizes;   // voxels of components 1, 2, …
};

Components connected_components(const Mask& mask);

}  // namespace voxswap::metrics
