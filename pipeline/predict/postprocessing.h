// Post-processing of label maps: removes parts of a region that are too small to be plausible. The steps are
// selected on validation cases and stored in postprocessing.json, which prediction
// applies.
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
#include "pipeline/cases/options.h"
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
    std::size_t holding = 0;       // cases whose truth has the region
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

// Voxels that are taken away get what is left over.
void apply_step(data::LabelMap& labels, const PostStep& step, const data::Regions& regions);

std::string postprocessing_json(const Postprocessing& what);
// Throws Exit::bad_data for a file that is none, or names a region that is not there.
Postprocessing read_postprocessing(const fs::path& file, const data::Regions& regions);

// "enhancing_tumor: what is smaller than 500 mm3 in all is removed", for people.
std::string step_words(const PostStep& step);

// Keeps the largest connected component of a region in a label map: of an organ or a tumour that exists once,
// other components are errors.

// The regions of `names` ("all" stands for every one), from the largest to the smallest. Throws Exit::usage
// naming the ones there are.
data::Regions choose_regions(const data::Regions& regions, const std::vector<std::string>& names);

// The label that voxels taken from `region` get: of the smallest region around it, the first that is not its
// own; background where there is none.
std::int16_t left_over(const std::vector<int>& region, const data::Regions& regions);

// Of each chosen region only the component with most voxels stays (26 neighbours; of equal ones the first).
// The other voxels become what the next larger region around this one leaves over (small enhancing parts
// become necrosis, of the core oedema), or background where there is none.
void keep_largest_components(data::LabelMap& labels, const data::Regions& chosen,
                             const data::Regions& regions);

// Selects post-processing on cases with ground truth: nnU-Net's largest component, and BraTS's rule that few
// voxels of enhancing tumour are none (Isensee et al. 2021), for every region, and with sizes that are
// searched.
struct TruthAndPrediction {
  data::LabelMap truth, prediction;  // on one grid
  std::size_t case_number = 0;       // the same where a case was predicted several times
};

// A region is searched where so many cases hold it: what helps fewer may be chance.
constexpr std::size_t fewest_cases = 10;

// Reads each of `count` predictions once for every set of regions that share no label, and once more. A step
// is taken where the region is held by enough cases, the mean Dice over regions and cases grows by 0.0005 or
// more, the interval (95 %, bootstrap over cases) of that gain is above 0, no region's falls, and more cases
// gain than lose; among several of a region, the one that gains most. Without such steps there are none. Dice
// of a region that is empty in both is 1, in one of them 0.
Postprocessing find_postprocessing(std::size_t count,
                                   const std::function<TruthAndPrediction(std::size_t)>& read,
                                   const data::Regions& regions);

// On the validation predictions of finished runs, each with its repeats, of one data set. Cases that are in
// several runs count as often. Throws Exit::bad_data where a prediction or a truth is missing.
Postprocessing find_postprocessing(const std::vector<RunOptions>& runs, const data::Dataset& dataset);

// Writes what is found into `folder` for prediction to read, and tells of it.
void write_postprocessing(const std::vector<RunOptions>& runs, const data::Dataset& dataset,
                          const fs::path& folder);

}  // namespace voxswap::pipeline
