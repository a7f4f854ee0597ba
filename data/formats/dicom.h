// Reads a folder of DICOM slices as one image. One folder holds one series: slices of one orientation, size
// and pixel spacing, one per file (with or without an extension, recognised by the letters DICM; other files
// are ignored).
//
// Slices are sorted by where they lie along their normal, whatever their names and numbers, and their
// distance is measured there: SliceThickness is how thick a slice is, not how far the next one lies. Stored
// values go through each slice's own rescale slope and intercept. Refused with a message, because a guess
// could be wrong: several series or several images of one place in a folder, a gap where a slice is missing,
// distances that vary, planes that cross, stacks that are slanted (a tilted gantry), Siemens mosaics,
// multi-frame objects, segmentation objects, colours; and what is damaged: truncated slices, a slice that
// does not say where it lies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "data/formats/header_text.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

std::string dicom_description(const fs::path& folder);  // the SeriesDescription of its first file

ImageHeader dicom_header(const fs::path& folder);
std::vector<Image> dicom_volumes(const fs::path& folder, std::int64_t first, std::int64_t count);

// Finds the DICOM files of a folder, by content, not by name.
std::vector<fs::path> dicom_files(const fs::path& folder);  // sorted
bool is_dicom_folder(const fs::path& folder);               // holds at least one DICOM file itself

}  // namespace voxswap::data
