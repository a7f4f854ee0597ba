// Post-processing of label maps: removes parts of a region that are too small to be plausible. Steps are
// selected on validation cases and stored in postprocessing.json, which prediction applies.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/choice.h"
#include "base/file.h"
#include "data/layouts/dataset.h"
#include "data/volumes/volume.h"
#include "metrics/lesions.h"
#include "metrics/overlap.h"
#include "pipeline/cases/experiment.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

// Which 26-connected components of a region to remove: all but the largest; those below a size; or all of
// them if the whole region is below a size.
enum class Removal { all_but_largest, small_components, small_whole };
constexpr std::array<std::string_view, 3> names_of(Removal) {
  return {"all_but_largest", "small_components", "small_whole"};
}

struct PostStep {
  std::string region;
  Removal remove = Removal::all_but_largest;
  double below_mm3 = 0;  // for small_components and small_whole
  double gain = 0;       // in mean Dice over all regions and validation cases
  // If not 0, the step was taken from the ground truth of so many cases (smallest_regions.h), not for its
  // gain.
  std::size_t labelled = 0;
  // If not empty, a step of nnU-Net for these labels together, named by `region`: all of the largest
  // components are kept if several are equal, and the others become background.
  std::vector<int> labels{};
};
// The labels whose components a step removes, and the label that removed voxels get. Throws Exit::bad_data
// for an unknown region; `file` has the step.
struct Affected {
  std::vector<int> labels;
  std::int16_t becomes = 0;
};
Affected affected_by(const PostStep& step, const data::Regions& regions,
                     const fs::path& file = postprocessing_file);

struct Postprocessing {
  struct Gain {
    std::string region;
    double before = 0, after = 0;  // mean Dice
    std::size_t holding = 0;       // cases whose ground truth contains the region
  };
  std::vector<PostStep> steps;  // in order of application
  std::size_t cases = 0;        // number of cases used for the selection
  std::vector<Gain> gains;      // per region
};

// The connected components of a region in a label map.
struct RegionParts {
  VoxelBox box;
  metrics::Components components;
};
RegionParts parts_of(const data::LabelMap& labels, const std::vector<int>& region);
// For each component, whether the step removes it. `voxel_mm3`: volume of a voxel.
std::vector<bool> removed_parts(const RegionParts& parts, const PostStep& step, double voxel_mm3);

void apply_step(data::LabelMap& labels, const PostStep& step, const data::Regions& regions);

std::string postprocessing_json(const Postprocessing& what);
// Throws Exit::bad_data if the file is invalid or names an unknown region.
Postprocessing read_postprocessing(const fs::path& file, const data::Regions& regions);

// For display: "enhancing_tumor: what is smaller than 500 mm3 in all is removed".
std::string step_words(const PostStep& step);

// Keeps only the largest connected component of a region, for organs or tumours that occur once.

// The regions in `names` ("all": every region), from largest to smallest. Throws Exit::usage that lists the
// valid names.
data::Regions choose_regions(const data::Regions& regions, const std::vector<std::string>& names);

// The label given to voxels removed from `region`: the first label of the smallest enclosing region that
// `region` does not contain; background if no region encloses it.
std::int16_t left_over(const std::vector<int>& region, const data::Regions& regions);

// Keeps the largest 26-connected component of each chosen region (the first among equals). Other voxels get
// the label left_over(): small enhancing parts become necrosis, small core parts oedema.
void keep_largest_components(data::LabelMap& labels, const data::Regions& chosen,
                             const data::Regions& regions);

// Selects post-processing steps on cases with ground truth. Generalises nnU-Net's largest component and the
// BraTS rule that very few enhancing voxels are none (Isensee et al. 2021) to every region, with a search
// over sizes.
struct TruthAndPrediction {
  data::LabelMap truth, prediction;  // on one grid
  std::size_t case_number = 0;       // identifies the case if it was predicted several times
};

// Minimum number of cases that contain a region; gains on fewer may be chance.
constexpr std::size_t fewest_cases = 10;

// Reads each of `count` predictions once per set of regions without common labels, and once more at the end.
// A step on a region is selected if enough cases contain the region, mean Dice over regions and cases grows
// by at least 0.0005, the gain is significant (95 % bootstrap interval over cases above 0), no region's mean
// Dice decreases, and more cases gain than lose. Per region, the step with the largest gain is selected, if
// any. Dice is 1 if a region is empty in both label maps and 0 if in one. Before these, applies each of the
// `given` steps that lowers no case's mean Dice and no region's.
Postprocessing find_postprocessing(std::size_t count,
                                   const std::function<TruthAndPrediction(std::size_t)>& read,
                                   const data::Regions& regions, const std::vector<PostStep>& given = {});

// Uses the validation predictions of finished runs on one data set, with all their repeats, and the volumes
// of regions in the ground truth of all their cases. Cases predicted by several runs count several times.
// Throws Exit::bad_data if a prediction or ground truth is missing.
Postprocessing find_postprocessing(const std::vector<Experiment>& runs, const data::Dataset& dataset);

// Writes the selected steps to `folder` for prediction, and logs them.
void write_postprocessing(const std::vector<Experiment>& runs, const data::Dataset& dataset,
                          const fs::path& folder);

}  // namespace voxswap::pipeline
