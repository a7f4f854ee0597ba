#include "pipeline/predict/postprocessing.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "metrics/lesions.h"
#include "metrics/overlap.h"

namespace voxswap::pipeline {

namespace {

Removal removal_of(const std::string& name, const fs::path& file) {
  const std::vector<std::string> names = choice_names<Removal>();
  if (std::find(names.begin(), names.end(), name) == names.end())
    fail(Exit::bad_data, "{}: \"remove\": expected {}, found '{}'", file.string(), join(names, ", "), name);
  return choice_of<Removal>(name);
}

}  // namespace

Affected affected_by(const PostStep& step, const data::Regions& regions, const fs::path& file) {
  if (!step.labels.empty()) return {step.labels, 0};
  const auto found = std::find_if(regions.begin(), regions.end(),
                                  [&](const auto& region) { return region.first == step.region; });
  if (found == regions.end())
    fail(Exit::bad_data, "{}: there is no region '{}'. Remove its step, or the file", file.string(),
         step.region);
  return {found->second, left_over(found->second, regions)};
}

RegionParts parts_of(const data::LabelMap& labels, const std::vector<int>& region) {
  const Size3& size = labels.geometry.size;
  const VoxelBox box = metrics::box_around(metrics::label_pairs(labels.voxels, labels.voxels, size), region);
  return {box, metrics::connected_components(metrics::cut(labels.voxels, size, box, region))};
}

std::vector<bool> removed_parts(const RegionParts& parts, const PostStep& step, double voxel_mm3) {
  const std::vector<std::int64_t>& sizes = parts.components.sizes;
  std::vector<bool> removed(sizes.size(), false);
  const auto is_small = [&](std::int64_t voxels) {
    return static_cast<double>(voxels) * voxel_mm3 < step.below_mm3;
  };
  if (step.remove == Removal::all_but_largest && !sizes.empty()) {
    const auto largest = std::max_element(sizes.begin(), sizes.end());
    std::transform(sizes.begin(), sizes.end(), removed.begin(),
                   [&](std::int64_t voxels) { return step.labels.empty() || voxels < *largest; });
    removed[static_cast<std::size_t>(largest - sizes.begin())] = false;
  } else if (step.remove == Removal::small_components) {
    std::transform(sizes.begin(), sizes.end(), removed.begin(), is_small);
  } else if (is_small(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}))) {
    removed.assign(sizes.size(), true);
  }
  return removed;
}

void apply_step(data::LabelMap& labels, const PostStep& step, const data::Regions& regions) {
  const auto [region, replacement] = affected_by(step, regions);
  const RegionParts parts = parts_of(labels, region);
  const std::vector<bool> removed = removed_parts(parts, step, voxel_volume(labels.geometry.spacing));
  if (std::none_of(removed.begin(), removed.end(), [](bool goes) { return goes; })) return;
  auto component = parts.components.labels.begin();
  for (std::int64_t z = parts.box.start[2]; z < parts.box.end()[2]; ++z)
    for (std::int64_t y = parts.box.start[1]; y < parts.box.end()[1]; ++y)
      for (std::int64_t x = parts.box.start[0]; x < parts.box.end()[0]; ++x, ++component)
        if (*component != 0 && removed[static_cast<std::size_t>(*component - 1)])
          labels.at(x, y, z) = replacement;
}

std::string postprocessing_json(const Postprocessing& what) {
  Json steps = Json::array(), dice = Json::object();
  for (const PostStep& step : what.steps) {
    Json one = {{"region", step.region}, {"remove", choice_name(step.remove)}, {"gain", step.gain}};
    if (step.remove != Removal::all_but_largest) one["below_mm3"] = step.below_mm3;
    if (step.labelled > 0) one["labelled_cases"] = step.labelled;
    if (!step.labels.empty()) one["labels"] = step.labels;
    steps.push_back(std::move(one));
  }
  for (const Postprocessing::Gain& gain : what.gains)
    dice[gain.region] = {{"before", gain.before}, {"after", gain.after}, {"cases", gain.holding}};
  return Json{{"about",
               "Post-processing by voxswap predict, selected on the validation cases or, with "
               "labelled_cases, from "
               "volumes in the ground truth. Remove a step, or this file, to switch it off."},
              {"steps", steps},
              {"found_on_cases", what.cases},
              {"fewest_cases", fewest_cases},
              {"mean_dice", dice}}
             .dump(2) +
         "\n";
}

Postprocessing read_postprocessing(const fs::path& file, const data::Regions& regions) {
  Postprocessing result;
  try {
    const Json json = checked_json(read_file(file));
    for (const Json& one : json.at("steps")) {
      PostStep& step = result.steps.emplace_back();
      step.region = one.at("region").get<std::string>();
      step.remove = removal_of(one.at("remove").get<std::string>(), file);
      step.gain = one.value("gain", 0.0);
      step.labelled = one.value("labelled_cases", std::size_t{0});
      if (step.remove != Removal::all_but_largest) step.below_mm3 = one.at("below_mm3").get<double>();
      step.labels = one.value("labels", std::vector<int>());
      affected_by(step, regions, file);
    }
    result.cases = json.value("found_on_cases", std::size_t{0});
    const Json gains = json.value("mean_dice", Json::object());
    for (const auto& [region, dice] : gains.items())
      result.gains.push_back({region, dice.at("before").get<double>(), dice.at("after").get<double>(),
                              dice.value("cases", std::size_t{0})});
  } catch (const Json::exception&) {
    fail(Exit::bad_data, "{}: is not a list of steps as voxswap writes it. Remove it", file.string());
  }
  return result;
}

std::string step_words(const PostStep& step) {
  switch (step.remove) {
    case Removal::all_but_largest:
      return format("{}: only the largest component is kept", step.region);
    case Removal::small_components:
      return format("{}: components smaller than {} mm3 are removed", step.region, step.below_mm3);
    case Removal::small_whole:
      return format("{}: removed where its total volume is below {} mm3{}", step.region, step.below_mm3,
                    step.labelled == 0 ? ""
                                       : format(", half of the smallest in the ground truth of {}",
                                                counted(step.labelled, "case")));
  }
  return {};
}

namespace {

bool contains(const std::vector<int>& values, int value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

}  // namespace

std::int16_t left_over(const std::vector<int>& region, const data::Regions& regions) {
  const std::vector<int>* around = nullptr;
  for (const auto& [name, values] : regions) {
    const bool holds = std::all_of(region.begin(), region.end(), [&](int v) { return contains(values, v); });
    if (holds && values.size() > region.size() && (!around || values.size() < around->size()))
      around = &values;
  }
  if (!around) return 0;
  const auto found =
      std::find_if(around->begin(), around->end(), [&](int value) { return !contains(region, value); });
  return static_cast<std::int16_t>(*found);
}

data::Regions choose_regions(const data::Regions& regions, const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const auto& [name, values] : regions) known.push_back(name);
  for (const std::string& name : names) {
    if (name != "all" && std::find(known.begin(), known.end(), name) == known.end())
      fail(Exit::usage, "there is no region '{}'. Expected all or some of {}", name, join(known, ", "));
  }
  data::Regions chosen = regions;
  if (std::find(names.begin(), names.end(), "all") == names.end())
    std::erase_if(chosen, [&](const auto& region) {
      return std::find(names.begin(), names.end(), region.first) == names.end();
    });
  std::stable_sort(chosen.begin(), chosen.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  return chosen;
}

void keep_largest_components(data::LabelMap& labels, const data::Regions& chosen,
                             const data::Regions& regions) {
  for (const auto& [name, values] : chosen) apply_step(labels, {name, Removal::all_but_largest}, regions);
}

}  // namespace voxswap::pipeline
