// Detection of single lesions: panoptic quality (Kirillov et al., CVPR 2019) and the F1 score, which Metrics
// Reloaded (Maier-Hein, Reinke et al., Nature Methods 21, 2024) recommends if every structure counts rather
// than every voxel.
//
// An instance is a 26-connected component. Instances of ground truth and prediction match if their
// intersection over union is above 0.5; each has then at most one match (Kirillov et al., section 4.1).
#pragma once

#include "metrics/mask.h"
#include "metrics/overlap.h"

namespace voxswap::metrics {

struct InstanceCounts {
  std::int64_t matched = 0, missed = 0, false_positives = 0;
  double overlaps = 0;  // sum of the intersection over union of matches
};

// Both masks must be cut from the same box.
InstanceCounts count_instances(const Mask& truth, const Mask& prediction);

// 2 TP / (2 TP + FP + FN), the recognition quality. Without any instances, 1 under the rule brats and NaN
// under nnunet.
double detection_f1(const InstanceCounts& counts, EmptyRule rule);
// Recognition quality times the mean intersection over union of matches.
double panoptic_quality(const InstanceCounts& counts, EmptyRule rule);

}  // namespace voxswap::metrics
