// The table of metrics, and the scoring of a case.
#include "metrics/metrics.h"

#include <algorithm>

#include "base/error.h"
#include "metrics/surface.h"

namespace voxswap::metrics {

namespace {

double volume_difference(const MetricInput& input) {
  const auto voxels = static_cast<double>(input.overlap.prediction - input.overlap.truth);
  return voxels * voxel_volume(input.spacing) / 1000;
}

}  // namespace

const std::vector<Metric>& metrics() {
  using In = const MetricInput&;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  static const std::vector<Metric> table = {
      {"dice", "2 |T and P| / (|T| + |P|)", MetricNeeds::counts,
       [](In in) { return dice(in.overlap, in.options.empty); }},
      {"hd95", "larger of the two 95th percentiles of surface distance, in mm", MetricNeeds::surfaces,
       [](In in) { return hd95(in.surfaces, in.options.empty); }, 0, infinity},
      {"sensitivity", "|T and P| / |T|", MetricNeeds::counts,
       [](In in) { return sensitivity(in.overlap, in.options.empty); }},
      {"specificity", "fraction of voxels outside T that are outside P", MetricNeeds::counts,
       [](In in) { return specificity(in.overlap, in.voxels, in.options.empty); }},
      {"precision", "|T and P| / |P|", MetricNeeds::counts,
       [](In in) { return precision(in.overlap, in.options.empty); }},
      {"volume_difference", "|P| - |T| in ml", MetricNeeds::counts, volume_difference, -infinity, infinity},
      {"hausdorff", "largest distance between the surfaces, in mm", MetricNeeds::surfaces,
       [](In in) { return hausdorff(in.surfaces, in.options.empty); }, 0, infinity},
      {"average_surface_distance", "mean distance between the surfaces, both ways, in mm",
       MetricNeeds::surfaces, [](In in) { return average_surface_distance(in.surfaces, in.options.empty); },
       0, infinity},
      {"surface_dice", "fraction of both surfaces within the tolerance of the other surface",
       MetricNeeds::surfaces,
       [](In in) { return surface_dice(in.surfaces, in.options.surface_tolerance, in.options.empty); }},
      {"lesion_wise_dice", "mean Dice over lesions and false positives, as in BraTS since 2023",
       MetricNeeds::lesions, [](In in) { return in.lesions.dice; }},
      {"lesion_wise_hd95", "mean HD95 over lesions and false positives, in mm", MetricNeeds::lesions,
       [](In in) { return in.lesions.hd95; }, 0, infinity},
      {"boundary_iou", "intersection over union of the boundary bands, as wide as the tolerance",
       MetricNeeds::boundaries, [](In in) { return boundary_iou(in.rims, in.options.empty); }},
      {"detection_f1", "F1 of detected lesions (intersection over union above 0.5)", MetricNeeds::instances,
       [](In in) { return detection_f1(in.instances, in.options.empty); }},
      {"panoptic_quality", "detection_f1 times the mean intersection over union of detected lesions",
       MetricNeeds::instances, [](In in) { return panoptic_quality(in.instances, in.options.empty); }},
  };
  return table;
}

const Metric& metric(const std::string& name) {
  for (const Metric& candidate : metrics()) {
    if (name == candidate.name) return candidate;
  }
  const std::string near = nearest(name, metric_names());
  fail(Exit::usage, "unknown metric '{}'. {}Expected one of {}", name,
       near.empty() ? "" : format("Did you mean '{}'? ", near), join(metric_names(), ", "));
}

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const Metric& candidate : metrics()) names.emplace_back(candidate.name);
  return names;
}

std::int64_t leave_out(int ignored, std::vector<std::int16_t>& truth, std::vector<std::int16_t>& prediction) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < truth.size(); ++i)
    if (truth[i] == ignored) {
      truth[i] = prediction[i] = 0;
      ++count;
    }
  return count;
}

std::vector<RegionScores> score_regions(std::span<const std::int16_t> given_truth,
                                        std::span<const std::int16_t> given_prediction, const Size3& size,
                                        const Spacing& spacing, std::span<const std::vector<int>> regions,
                                        std::span<const std::string> wanted, const MetricOptions& options) {
  std::int64_t left_out = 0;
  std::vector<std::int16_t> known_truth, known_prediction;  // copies without ignored voxels
  if (options.ignored != 0) {
    known_truth.assign(given_truth.begin(), given_truth.end());
    known_prediction.assign(given_prediction.begin(), given_prediction.end());
    left_out = leave_out(options.ignored, known_truth, known_prediction);
  }
  const auto truth = left_out > 0 ? std::span<const std::int16_t>(known_truth) : given_truth;
  const auto prediction = left_out > 0 ? std::span<const std::int16_t>(known_prediction) : given_prediction;
  std::vector<const Metric*> chosen;
  for (const std::string& name : wanted) chosen.push_back(&metric(name));
  const auto any_needs = [&](MetricNeeds what) {
    return std::any_of(chosen.begin(), chosen.end(), [&](auto* metric) { return metric->needs == what; });
  };
  const bool surfaces = any_needs(MetricNeeds::surfaces), lesions = any_needs(MetricNeeds::lesions);
  const bool boundaries = any_needs(MetricNeeds::boundaries), instances = any_needs(MetricNeeds::instances);
  const std::vector<LabelPair> pairs = label_pairs(truth, prediction, size);
  std::vector<RegionScores> scores;
  for (const std::vector<int>& region : regions) {
    MetricInput input;
    input.overlap = overlap(pairs, region);
    input.voxels = voxels_in(size) - left_out;
    input.spacing = spacing;
    input.options = options;
    if (surfaces || lesions || boundaries || instances) {
      const std::int64_t margin = lesions ? options.lesions.dilation : 0;
      const VoxelBox box = grown(box_around(pairs, region), margin, size);
      const Mask of_truth = cut(truth, size, box, region), of_prediction = cut(prediction, size, box, region);
      if (surfaces) input.surfaces = surface_distances(of_truth, of_prediction, spacing);
      if (boundaries) input.rims = rim_overlap(of_truth, of_prediction, options.surface_tolerance, spacing);
      if (instances) input.instances = count_instances(of_truth, of_prediction);
      if (lesions)
        input.lesions = lesion_scores(of_truth, of_prediction, spacing, options.lesions, options.empty);
    }
    RegionScores& result = scores.emplace_back();
    result.overlap = input.overlap;
    for (const Metric* metric : chosen) result.values.push_back(metric->score(input));
  }
  return scores;
}

}  // namespace voxswap::metrics
