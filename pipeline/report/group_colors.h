// Colours and short names of groups of runs. Resolutions have a ramp from light (coarse) to dark (fine);
// groups that differ in something else have colours of series. Neither has the colour of one of the first six
// regions.
#pragma once

#include <string>
#include <vector>

#include "pipeline/report/figure.h"
#include "pipeline/report/run_groups.h"

namespace voxswap::pipeline {

// REQUIRES: index < groups.size().
std::string group_color(const std::vector<RunGroup>& groups, std::size_t index);

// What is neither a region nor a resolution: settings, channels of a sweep.
std::string series_color(std::size_t index);

// True if the groups differ only in their resolution.
bool differ_in_resolution_only(const std::vector<RunGroup>& groups);

// Side of a cube with as many voxels; of an image, of a square.
double voxels_per_side(const std::string& resolution);

// Short names of groups for tables and axes: their resolutions, the values of the only other key, or their
// labels.
struct GroupLabels {
  std::string heading;             // of a column: "Resolution, voxels"
  std::string axis;                // "voxels per side"; may be empty
  std::vector<std::string> names;  // of the groups, in their order

  explicit GroupLabels(const std::vector<RunGroup>& groups);
  // group_label() if there is no such group.
  std::string name(const std::string& resolution, const std::string& setting) const;

 private:
  std::vector<RunGroup> groups_;
};

// The legend of lines in the colours of groups; empty for a single group.
std::vector<LegendEntry> group_legend(const std::vector<RunGroup>& groups);

}  // namespace voxswap::pipeline
