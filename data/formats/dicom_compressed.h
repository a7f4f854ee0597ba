// Compressed pixels of DICOM files (JPEG, JPEG-LS, JPEG 2000, run lengths), unpacked by GDCM.
#pragma once

#include <string>

#include "base/filesystem.h"
#include "data/formats/dicom_elements.h"

namespace voxswap::data {

// `fragments`: the file's bytes from the first item to the end of the sequence. Gives `promised` bytes, as
// this machine has its numbers. Throws Exit::bad_data naming the file when they are not what comes out.
std::string unpacked_pixels(const fs::path& path, const DicomElements& elements, const std::string& fragments,
                            std::size_t promised);

}  // namespace voxswap::data
