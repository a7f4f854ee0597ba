// One orientation for all images: axes are flipped and permuted to be as near as possible to left, posterior,
// superior (ITK's LPS). Nothing is resampled, so it can be undone exactly.
#pragma once

#include <string>

#include "data/volumes/transforms.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// Where the axes of a grid point to, nearest of the six directions each: "LPS", "RAS", "PIR".
std::string axis_codes(const Geometry& geometry);

// The same voxels in the canonical frame: axis codes LPS. Spacing, origin and direction follow.
Geometry canonical(const Geometry& geometry);
Image canonical(Image image);
LabelMap canonical(LabelMap labels);

// The way back: `labels`, on the canonical grid of `stored`, as they lie in a file of that geometry.
// REQUIRES: labels.geometry.size == canonical(stored).size
LabelMap as_stored(LabelMap labels, const Geometry& stored);
Image as_stored(Image image, const Geometry& stored);

}  // namespace voxswap::data
