// Files to grids and back, through ITK. Any format ITK reads; geometry is fixed here, at the border, once.
#pragma once

#include <filesystem>
#include <vector>

#include "data/volume.h"

namespace voxswap {

Geometry read_geometry(const std::filesystem::path& path);  // header only
int count_volumes(const std::filesystem::path& path);  // header only: 1 for a 3D file, more for a 4D file

// `component`: which volume of a 4D file, or -1 for a 3D file. Throws Exit::bad_data naming the file.
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
