#include "pipeline/report/group_colors.h"

#include <algorithm>
#include <cmath>

#include "base/keys.h"
#include "base/text.h"
#include "pipeline/report/palette.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

bool differ_in_resolution_only(const std::vector<RunGroup>& groups) {
  return groups.size() > 1 &&
         std::ranges::adjacent_find(groups, {}, &RunGroup::resolution) == groups.end();  // they are sorted
}

std::string group_color(const std::vector<RunGroup>& groups, std::size_t index) {
  if (!differ_in_resolution_only(groups)) return series_color(index);
  return hex(ramp_color(static_cast<double>(index) / static_cast<double>(groups.size() - 1)));
}

std::string series_color(std::size_t index) {
  constexpr std::size_t colors_of_regions = 6;
  return plot_color(colors_of_regions + index);
}

double voxels_per_side(const std::string& resolution) {
  const bool flat = std::count(resolution.begin(), resolution.end(), 'x') == 1;
  return std::pow(resolution_voxels(resolution), flat ? 1.0 / 2 : 1.0 / 3);
}

GroupLabels::GroupLabels(const std::vector<RunGroup>& groups) : groups_(groups) {
  const bool resolutions = differ_in_resolution_only(groups);
  const std::vector<std::string>& keys = groups.front().distinguishing_keys;
  const bool one_key = groups.front().resolution == groups.back().resolution && keys.size() == 1 &&
                       groups.front().keys.contains(keys[0]) && !groups.front().keys.at(keys[0]).empty();
  bool cubes = true;
  for (const RunGroup& group : groups) {
    cubes = cubes && group.resolution.find('x') == group.resolution.npos;
    names.push_back(resolutions ? group.resolution : one_key ? group.keys.at(keys[0]) : group.label);
  }
  heading = heading_of(resolutions ? key::preprocess_resolution : one_key ? keys[0] : "group");
  axis = resolutions ? (cubes ? "voxels per side" : "voxels") : one_key ? heading : "";
}

std::string GroupLabels::name(const std::string& resolution, const std::string& setting) const {
  const std::size_t group = group_with(groups_, resolution, setting);
  return group == groups_.size() ? group_label(resolution, setting) : names[group];
}

std::vector<LegendEntry> group_legend(const std::vector<RunGroup>& groups) {
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; groups.size() > 1 && i < groups.size(); ++i)
    entries.push_back({groups[i].label, format("lines lc rgb '{}' lw 1.8", group_color(groups, i))});
  return entries;
}

}  // namespace voxswap::pipeline
