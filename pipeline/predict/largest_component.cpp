#include "pipeline/predict/largest_component.h"

#include <algorithm>

#include "base/error.h"
#include "metrics/components.h"
#include "metrics/overlap.h"

namespace voxswap::pipeline {

namespace {

bool contains(const std::vector<int>& values, int value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

void keep_largest(data::LabelMap& labels, const std::vector<int>& region, std::int16_t replacement) {
  const metrics::Extent& size = labels.geometry.size;
  const metrics::VoxelBox box =
      metrics::box_around(metrics::label_pairs(labels.voxels, labels.voxels, size), region);
  const metrics::Components components =
      metrics::connected_components(metrics::cut(labels.voxels, size, box, region));
  if (components.sizes.size() < 2) return;
  const auto largest = std::max_element(components.sizes.begin(), components.sizes.end());
  const auto kept = static_cast<std::int32_t>(largest - components.sizes.begin() + 1);
  auto component = components.labels.begin();
  for (std::int64_t z = box.start[2]; z < box.end()[2]; ++z) {
    for (std::int64_t y = box.start[1]; y < box.end()[1]; ++y) {
      for (std::int64_t x = box.start[0]; x < box.end()[0]; ++x, ++component) {
        if (*component != 0 && *component != kept) labels.at(x, y, z) = replacement;
      }
    }
  }
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
  for (const auto& [name, values] : chosen) keep_largest(labels, values, left_over(values, regions));
}

}  // namespace voxswap::pipeline
