#include "pipeline/predict/smallest_regions.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <set>

#include "base/csv.h"
#include "base/interrupt.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "data/formats/image_io.h"

namespace voxswap::pipeline {

namespace {

constexpr std::size_t most_read = 200;
constexpr double plausible_part = 0.5;  // of the smallest volume

std::vector<std::int64_t> voxels_of(const data::Regions& regions, const data::LabelMap& map) {
  std::map<int, std::int64_t> by_label;
  for (const std::int16_t label : map.voxels) ++by_label[label];
  std::vector<std::int64_t> voxels(regions.size());
  for (std::size_t r = 0; r < regions.size(); ++r)
    for (const int label : regions[r].second)
      if (const auto found = by_label.find(label); found != by_label.end()) voxels[r] += found->second;
  return voxels;
}

}  // namespace

std::vector<PostStep> steps_for_smallest(std::size_t count,
                                         const std::function<data::LabelMap(std::size_t)>& read,
                                         const data::Regions& regions) {
  const data::Regions inner = [&] {
    data::Regions found = choose_regions(regions, {"all"});
    std::erase_if(found, [&](const auto& region) { return left_over(region.second, regions) == 0; });
    return found;
  }();
  if (inner.empty() || count < enough_labelled) return {};
  std::vector<std::vector<double>> volumes(count);  // per case and region, mm^3
  Progress progress("volumes of regions", "cases", static_cast<std::int64_t>(count));
  std::mutex advancing;
  parallel_for(count, [&](std::size_t i) {
    throw_if_interrupted();
    const data::LabelMap map = read(i);
    for (const std::int64_t voxels : voxels_of(inner, map))
      volumes[i].push_back(static_cast<double>(voxels) * voxel_volume(map.geometry.spacing));
    const std::lock_guard hold(advancing);
    progress.advance();
  });
  std::vector<PostStep> steps;
  for (std::size_t r = 0; r < inner.size(); ++r) {
    std::vector<double> found;
    for (const std::vector<double>& of_case : volumes)
      if (of_case[r] > 0) found.push_back(of_case[r]);
    if (found.size() >= enough_labelled)
      steps.push_back(
          {.region = inner[r].first,
           .remove = Removal::small_whole,
           .below_mm3 = std::round(plausible_part * *std::min_element(found.begin(), found.end())),
           .gain = 0,
           .labelled = found.size()});
  }
  std::erase_if(steps, [](const PostStep& step) { return step.below_mm3 == 0; });
  return steps;
}

std::vector<PostStep> steps_for_smallest(const Experiment& run, const data::Dataset& dataset) {
  const fs::path split = run.output / "split.csv";
  const Csv csv = read_csv(split);
  const std::size_t id = csv.column("case", split.string());
  std::set<std::string> ids;
  for (const auto& row : csv.rows) ids.insert(row[id]);
  std::vector<fs::path> truths;
  for (const data::CaseFiles& files : dataset.cases) {
    const bool is_annotated =
        std::all_of(dataset.regions.begin(), dataset.regions.end(),
                    [&](const auto& region) { return files.is_annotated(region.second); });
    if (ids.contains(files.id) && files.labelled() && is_annotated && truths.size() < most_read)
      truths.push_back(files.truth);
  }
  return steps_for_smallest(
      truths.size(), [&](std::size_t i) { return data::read_label_map(truths[i]); }, dataset.regions);
}

}  // namespace voxswap::pipeline
