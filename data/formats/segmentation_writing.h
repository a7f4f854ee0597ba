// Label maps for programs that show labels by name and colour: .seg.nrrd for 3D Slicer, and the label list of
// ITK-SNAP.
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

// One layer of labels, compressed, with a segment for each: name, colour, value and the box it lies in.
// Written whole and renamed into place.
void write_segmentation(const fs::path& path, const LabelMap& labels, const std::vector<Segment>& segments);

// A file as ITK-SNAP saves it (Segmentation, Export Label Descriptions).
std::string itk_snap_labels(const std::vector<Segment>& segments);

}  // namespace voxswap::data
