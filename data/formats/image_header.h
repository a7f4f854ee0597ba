// The header of an image, the same for every format, before its voxels are read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/volumes/volume.h"

namespace voxswap::data {

struct ImageHeader {
  Geometry geometry;
  std::int64_t volumes = 1;           // 1 for a 3D file, more for a 4D file
  std::string element;                // how a voxel is stored: "int16"
  std::vector<std::string> oddities;  // what was taken as the file's meaning though it could mean otherwise
};

}  // namespace voxswap::data
