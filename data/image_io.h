// Files to grids and back. Each format has its reader (nifti_voxels, raw_image, dicom); geometry is fixed
// here, at the border, once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "data/volume.h"

namespace voxswap {

// What a file says of itself before its voxels are read.
struct ImageHeader {
  Geometry geometry;
  std::int64_t volumes = 1;           // 1 for a 3D file, more for a 4D file
  std::string element;                // how a voxel is stored: "int16"
  std::vector<std::string> oddities;  // what was taken as the file's meaning though it could mean otherwise
};

// All of these throw Exit::bad_data naming the file when it is missing, damaged or of no known format.
ImageHeader read_header(const std::filesystem::path& path);

// `component`: which volume of a 4D file, or -1 for a 3D file.
Image read_image(const std::filesystem::path& path, int component = -1);
std::vector<Image> read_images(const std::filesystem::path& path);  // every volume, unpacked once

// Values within 1e-3 of a whole number are rounded (real label maps are stored as float, or scaled).
LabelMap read_label_map(const std::filesystem::path& path);

// Written whole and renamed into place; compressed when the name says so.
void write_image(const std::filesystem::path& path, const Image& image);
void write_label_map(const std::filesystem::path& path, const LabelMap& labels);
// Several images of one grid as a 4D file (the Decathlon's layout).
void write_images_4d(const std::filesystem::path& path, const std::vector<Image>& images);

}  // namespace voxswap
