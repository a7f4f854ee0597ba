// Keeps the largest connected component of a region in a label map: of an organ or a tumour that exists once,
// other components are errors.
#pragma once

#include <string>
#include <vector>

#include "data/layouts/dataset.h"
#include "data/volumes/volume.h"

namespace voxswap::pipeline {

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

}  // namespace voxswap::pipeline
