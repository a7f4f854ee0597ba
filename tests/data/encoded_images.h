// A small image in every compression that a third-party decoder reads: DICOM slices, JPEG, TIFF and PNG.
#pragma once

#include <string>
#include <vector>

#include "base/file.h"

namespace voxswap::test {

// Writes the images to the folder and returns their names: "jpeg_2000.dcm", "deflate.tif", … Slices have 24
// columns, 20 rows and 16 bits, 2D images 24x20 colour pixels.
std::vector<std::string> write_encoded_images(const fs::path& folder);

}  // namespace voxswap::test
