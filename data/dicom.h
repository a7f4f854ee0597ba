// A folder of DICOM slices as one image. One folder holds one series: slices of one orientation, size and
// pixel spacing, each in a file of its own (with or without an extension, told by the letters DICM in it;
// other files are left alone).
//
// Slices are sorted by where they lie along their normal, whatever their names and numbers, and their
// distance is measured there: SliceThickness is how thick a slice is, not how far the next one lies. Stored
// values go through each slice's own rescale slope and intercept. Refused with a message, because a guess
// could be wrong: several series or several images of one place in a folder, a gap where a slice is missing,
// distances that vary, planes that cross, stacks that are slanted (a tilted gantry), Siemens mosaics,
// multi-frame objects, segmentation objects, colours; and what is damaged: truncated slices, a slice that does
// not say where it lies.
#pragma once

#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "data/image_io.h"

namespace voxswap {

bool is_dicom_folder(const std::filesystem::path& folder);  // holds at least one DICOM file itself
std::string dicom_description(
    const std::filesystem::path& folder);  // the SeriesDescription of its first file

ImageHeader dicom_header(const std::filesystem::path& folder);
std::vector<Image> dicom_volumes(const std::filesystem::path& folder, std::int64_t first, std::int64_t count);

// Writes a series into an empty folder: whole numbers from 0 to 65535, a slice per file, the same bytes each
// time. `uid` ("3.1") tells series apart.
void write_dicom(const std::filesystem::path& folder, const Image& image, const std::string& description,
                 const std::string& uid);
std::vector<std::string> dicom_names(std::int64_t slices);  // the files that it writes

// GDCM's objects share state without a lock, readers as well as writers; whoever has any holds this one, so that
// threads may call all of the above at once.
std::unique_lock<std::mutex> gdcm_turn();

}  // namespace voxswap
