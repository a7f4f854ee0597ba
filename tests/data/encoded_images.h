// A small image in every compression that is read with a decoder of others: DICOM slices, JPEG, TIFF and PNG.
#pragma once

#include <string>
#include <vector>

#include "base/file.h"

namespace voxswap::test {

// Writes them into the folder and returns their names: "jpeg_2000.dcm", "deflate.tif", … Slices have 24
// columns, 20 rows and 16 bits, pictures 24x20 pixels in colour.
std::vector<std::string> write_encoded_images(const fs::path& folder);

}  // namespace voxswap::test
