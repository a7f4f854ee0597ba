// Detection of single lesions: panoptic quality (Kirillov et al., CVPR 2019) and the F1 score, as Metrics
// Reloaded (Maier-Hein, Reinke et al., Nature Methods 21, 2024) recommends them where every structure counts
// rather than every voxel.
//
// An instance is a connected component (26 neighbours). One of the truth and one of the prediction are the
// same lesion where their intersection over union is above a half; then no other can be (Kirillov et al.,
// section 4.1).
#pragma once

#include "metrics/mask.h"
#include "metrics/overlap.h"

namespace voxswap::metrics {

struct InstanceCounts {
  std::int64_t matched = 0, missed = 0, false_positives = 0;
  double overlaps = 0;  // intersection over union, summed over what matches
};

// Both masks are cut from the same box.
InstanceCounts count_instances(const Mask& truth, const Mask& prediction);

// 2 TP / (2 TP + FP + FN): the quality of recognition. Where there are no instances at all, 1 under the rule
// brats, NaN under nnunet.
double detection_f1(const InstanceCounts& counts, EmptyRule rule);
// The same times the mean overlap of what matches.
double panoptic_quality(const InstanceCounts& counts, EmptyRule rule);

}  // namespace voxswap::metrics
