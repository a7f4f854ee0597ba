// One DICOM file as one slice: its header, its position and its values.
//
// The elements and pixels that are not compressed are read here, without GDCM, which believes what files say
// of themselves; it unpacks compressed pixels, between elements that were looked at.
#pragma once

#include <string>
#include <vector>

#include "base/filesystem.h"
#include "data/formats/dicom_elements.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

struct DicomSlice {
  fs::path path;
  DicomElements elements;
  Geometry geometry;    // of this slice alone
  std::string element;  // how a voxel is stored: "int16"
  double height = 0;    // of its centre along the normal of its series, mm

  std::string name() const { return path.filename().string(); }
};

// Reads all but the pixels. Throws Exit::bad_data naming the file for one that is truncated, that does not
// say where it lies, or that holds something else than one slice of numbers.
DicomSlice open_slice(const fs::path& path);

// Its values, rescaled as it says.
std::vector<float> slice_voxels(const DicomSlice& slice);

// The SeriesDescription alone; empty when the file has none.
std::string series_description(const fs::path& path);

}  // namespace voxswap::data
