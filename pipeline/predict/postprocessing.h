// Post-processing of label maps: removes parts of a region that are too small to be plausible. The steps are
// selected on validation cases (find_postprocessing.h) and stored in postprocessing.json, which prediction
// applies.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/choice.h"
#include "base/filesystem.h"
#include "data/layouts/dataset.h"
#include "data/volumes/volume.h"
#include "metrics/components.h"
#include "metrics/overlap.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

// Which components of a region go (26 neighbours): all but the largest; those smaller than so much; or all of
// them, where the region as a whole is smaller than so much.
enum class Removal { all_but_largest, small_components, small_whole };
constexpr std::array<std::string_view, 3> names_of(Removal) {
  return {"all_but_largest", "small_components", "small_whole"};
}

struct PostStep {
  std::string region;
  Removal remove = Removal::all_but_largest;
  double below_mm3 = 0;  // of small ones
  double gain = 0;       // in mean Dice over all regions and cases, when it was found
};

struct Postprocessing {
  struct Gain {
    std::string region;
    double before = 0, after = 0;  // mean Dice
  };
  std::vector<PostStep> steps;  // in this order
  std::size_t cases = 0;        // that it was found on
  std::vector<Gain> gains;      // of each region
};

// A region of a label map, in components.
struct RegionParts {
  metrics::VoxelBox box;
  metrics::Components components;
};
RegionParts parts_of(const data::LabelMap& labels, const std::vector<int>& region);
// Of each component, whether it goes. `voxel_mm3`: the volume of a voxel.
std::vector<bool> removed_parts(const RegionParts& parts, const PostStep& step, double voxel_mm3);
double voxel_volume(const data::Geometry& geometry);  // mm^3

// Voxels that are taken away get what is left over (largest_component.h).
void apply_step(data::LabelMap& labels, const PostStep& step, const data::Regions& regions);

std::string postprocessing_json(const Postprocessing& what);
// Throws Exit::bad_data for a file that is none, or names a region that is not there.
Postprocessing read_postprocessing(const fs::path& file, const data::Regions& regions);

// "enhancing_tumor: what is smaller than 500 mm3 in all is removed", for people.
std::string step_words(const PostStep& step);

}  // namespace voxswap::pipeline
