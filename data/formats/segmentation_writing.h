// Label maps for programs that show labels by name and colour: .seg.nrrd for 3D Slicer, and ITK-SNAP's label
// list.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

struct Segment {
  std::string name;
  int value = 1;
  std::array<std::uint8_t, 3> color{};
};

// One compressed layer of labels, with a segment for each: name, colour, value and bounding box. Written to a
// temporary file and renamed.
void write_segmentation(const fs::path& path, const LabelMap& labels, const std::vector<Segment>& segments);

// The format that ITK-SNAP saves (Segmentation, Export Label Descriptions).
std::string itk_snap_labels(const std::vector<Segment>& segments);

}  // namespace voxswap::data
