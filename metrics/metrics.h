// The metrics by name, for `evaluate.metrics` and the columns of dice.csv. A new metric is a file in this
// folder and a line in the table of metrics.cpp.
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
  double surface_tolerance = 1;  // mm, for surface_dice and boundary_iou
  LesionOptions lesions;
  int ignored = 0;  // label value in the ground truth; its voxels are excluded from all scores; 0: none
};

// Inputs of a metric for one region of one case.
struct MetricInput {
  Overlap overlap;
  std::int64_t voxels = 0;  // scored voxels of the grid
  Spacing spacing{1, 1, 1};
  MetricOptions options;
  SurfaceDistances surfaces;  // for metrics of surfaces
  LesionScores lesions;       // for metrics of lesions
  Overlap rims;               // for metrics of boundaries
  InstanceCounts instances;   // for metrics of instances
};

enum class MetricNeeds { counts, surfaces, lesions, boundaries, instances };

struct Metric {
  const char* name;
  const char* meaning;  // for help texts
  MetricNeeds needs;
  double (*score)(const MetricInput& input);
  double least = 0, most = 1;  // range of the score, apart from nan
};

const std::vector<Metric>& metrics();           // in the order of dice.csv's columns
const Metric& metric(const std::string& name);  // throws Exit::usage that names the most similar metric
std::vector<std::string> metric_names();        // for help texts and error messages

// Scores of one region of one case.
struct RegionScores {
  Overlap overlap;
  std::vector<double> values;  // in the order of the selected metrics
};

// Sets both maps to background where the ground truth is `ignored`; returns the number of these voxels.
std::int64_t leave_out(int ignored, std::vector<std::int16_t>& truth, std::vector<std::int16_t>& prediction);

// Scores regions (sets of label values) of two label maps on one grid. One pass over the maps counts all
// regions and finds their bounding boxes. Surfaces and lesions are computed inside these boxes, one region at
// a time, and only if a metric needs them. Takes about 20 bytes per voxel of the largest box.
std::vector<RegionScores> score_regions(std::span<const std::int16_t> truth,
                                        std::span<const std::int16_t> prediction, const Size3& size,
                                        const Spacing& spacing, std::span<const std::vector<int>> regions,
                                        std::span<const std::string> metrics, const MetricOptions& options);

}  // namespace voxswap::metrics
