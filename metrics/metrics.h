// The metrics by name: the values of `evaluate.metrics`, and columns of dice.csv.
//
// A new metric is a file in this folder and a line in the table of metrics.cpp.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "metrics/instances.h"
#include "metrics/lesions.h"
#include "metrics/overlap.h"
#include "metrics/surface.h"

namespace voxswap::metrics {

struct MetricOptions {
  EmptyRule empty = EmptyRule::brats;
  double surface_tolerance = 1;  // mm, of surface_dice and boundary_iou
  LesionOptions lesions;
  int ignored = 0;  // a label of the truth: voxels that have it are left out of every score; 0: none is
};

// All that a metric may look at for one region of one case.
struct MetricInput {
  Overlap overlap;
  std::int64_t voxels = 0;  // of the grid that were scored
  Spacing spacing{1, 1, 1};
  MetricOptions options;
  SurfaceDistances surfaces;  // where the metric looks at surfaces
  LesionScores lesions;       // where it looks at lesions
  Overlap rims;               // at boundaries
  InstanceCounts instances;   // at instances
};

enum class LooksAt { counts, surfaces, lesions, boundaries, instances };

struct Metric {
  const char* name;
  const char* meaning;  // for help texts
  LooksAt looks_at;
  double (*score)(const MetricInput& input);
  double least = 0, most = 1;  // that a score can be; or nan
};

const std::vector<Metric>& metrics();           // in the order of dice.csv's columns
const Metric& metric(const std::string& name);  // throws Exit::usage naming the nearest known name
std::vector<std::string> metric_names();        // for help texts and error messages

// One region of one case, scored.
struct RegionScores {
  Overlap overlap;
  std::vector<double> values;  // in the order of the metrics that were asked for
};

// Makes background of both where the truth is `ignored`; how many voxels these are.
std::int64_t leave_out(int ignored, std::vector<std::int16_t>& truth, std::vector<std::int16_t>& prediction);

// Scores regions (sets of label values) of two label maps of one grid. One pass over the maps counts all
// regions and finds the boxes around them; surfaces and lesions are looked at inside those, a region after
// the other, and only where a metric wants them. Takes about 20 bytes per voxel of the largest such box.
std::vector<RegionScores> score_regions(std::span<const std::int16_t> truth,
                                        std::span<const std::int16_t> prediction, const Extent& size,
                                        const Spacing& spacing, std::span<const std::vector<int>> regions,
                                        std::span<const std::string> metrics, const MetricOptions& options);

}  // namespace voxswap::metrics
