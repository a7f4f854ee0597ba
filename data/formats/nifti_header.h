// The header of a NIfTI file: type, grid and position of its voxels.
//
// Read without the NIfTI library, which believes what a damaged header says. The place of the voxels, as in
// nifti1.h: the sform when its code is above 0 and its axes stand at right angles, else the qform when its
// code is above 0, else voxel sizes alone (axes as in the array, origin 0). NIfTI's axes point right,
// anterior and superior; ours left, posterior and superior.
#pragma once

#include <string>
#include <string_view>

#include "base/file.h"
#include "data/formats/header_text.h"

namespace voxswap::data {

inline constexpr std::size_t most_nifti_header_bytes = 540;  // of NIfTI-2; NIfTI-1 has 348

struct NiftiHeader {
  bool swapped = false;             // written on a machine of the other byte order
  std::size_t offset = 0;           // of the first voxel
  double slope = 1, intercept = 0;  // value = slope * stored + intercept
  ImageHeader image;

  std::size_t voxels() const { return static_cast<std::size_t>(image.geometry.count()); }
  std::size_t promised_bytes() const;  // of the whole file, unpacked
};

// `begin`: the first bytes of the file, unpacked, up to most_nifti_header_bytes. Throws Exit::bad_data naming
// the file for what is no NIfTI file, or a damaged one.
NiftiHeader parse_nifti_header(const fs::path& path, std::string_view begin);

}  // namespace voxswap::data
