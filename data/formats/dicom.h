// Reads a folder of DICOM slices as one image. A folder contains one series: slices of one orientation, size
// and pixel spacing, one per file (with any extension or none, recognised by the letters DICM; other files
// are ignored).
//
// Slices are sorted by position along their normal, not by name or number, and the slice distance is computed
// from these positions, because SliceThickness is not the distance to the next slice. Stored values are
// transformed by each slice's own rescale slope and intercept. Refused with an error, because guessing is
// unsafe: several series or several images at one position in a folder, gaps from missing slices, varying
// distances, non-parallel planes, sheared stacks (a tilted gantry), Siemens mosaics, multi-frame objects,
// segmentation objects, colour images; also damaged files: truncated slices and slices without a position.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "data/formats/header_text.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// Texts of the first file of a folder; empty if it has none, or no DICOM file.
std::string dicom_description(const fs::path& folder);  // SeriesDescription
std::string dicom_patient(const fs::path& folder);      // PatientID

ImageHeader dicom_header(const fs::path& folder);
std::vector<Image> dicom_volumes(const fs::path& folder, const ChooseVolumes& choose);

// Finds the DICOM files of a folder, by content, not by name.
std::vector<fs::path> dicom_files(const fs::path& folder);  // sorted
bool is_dicom_folder(const fs::path& folder);               // holds at least one DICOM file itself

}  // namespace voxswap::data
