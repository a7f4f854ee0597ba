// What the slice viewer of report.html shows of a case: its volumes, small enough to travel in the page.
//
// A run writes viewer/CASE.json for every validation case; the page takes these files in as they are. Volumes
// are bytes, x fastest, cropped to what is not background, packed by gzip and written in base64. Label maps
// are on the case's own grid. Greys are too, as long as there is room, else means over blocks of its voxels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/filesystem.h"
#include "data/volumes/labels.h"
#include "data/volumes/volume.h"

namespace voxswap::pipeline {

inline constexpr const char* viewer_folder = "viewer";  // of a run

// A label of a voxel is a byte there. Cases with more are not looked into.
constexpr std::size_t most_viewed_labels = 255;

// What is shown. All of it is in the canonical frame (data/volumes/orientation.h), on one grid.
struct ViewedCase {
  const data::Volume& volume;  // its truth may be missing
  const data::LabelMap& prediction;
  const std::vector<std::string>& channels;  // names
  const data::Labels& labels;
  const data::Regions& regions;
};

// The content of viewer/CASE.json: at most `most_bytes` of it where blocks of up to 8 voxels along each axis
// get it there. REQUIRES: at most most_viewed_labels
std::string viewed_case(const ViewedCase& what, std::int64_t most_bytes);

}  // namespace voxswap::pipeline
