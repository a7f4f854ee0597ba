// Helpers of the two DICOM writers (dicom_segmentation.h, dicom_writing.h): errors, numbers and files of
// DCMTK.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/file.h"
#include "data/volumes/volume.h"

class DcmFileFormat;
class OFCondition;

namespace voxswap::data {

// Throws Exit::failed naming the file and what was to be done.
void check_dcmtk(const OFCondition& condition, const fs::path& path, const char* what);

// A number as DICOM's decimal string, which has at most 16 characters.
std::string decimal_string(double value);

// The centre of the first voxel of a plane, in mm.
std::array<double, 3> plane_position(const Geometry& grid, std::int64_t plane);

// Whether a file states the type of each element.
enum class DicomTypes { stated, implied };
// Writes the file in little-endian order; errors as those of write_file().
void save_dicom(DcmFileFormat& file, DicomTypes types, const fs::path& path);

}  // namespace voxswap::data
