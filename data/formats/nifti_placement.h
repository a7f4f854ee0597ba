// How a NIfTI file states the position of its voxels: both forms with their codes, the voxel sizes and their
// unit. Images written on the grid of another file repeat its statement, so that every program overlays the
// two, whichever form it reads.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/file.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// Fields of struct nifti_1_header of nifti1.h.
struct NiftiPlacement {
  std::array<float, 4> pixdim{};      // the first one is qfac
  std::uint8_t units = 0;             // xyzt_units
  std::int16_t qform = 0, sform = 0;  // codes
  std::array<float, 6> quaternion{};  // quatern_b to qoffset_z
  std::array<float, 12> srow{};
};

// That of `file`; nullopt unless it is a readable NIfTI file with this grid.
std::optional<NiftiPlacement> nifti_placement(const fs::path& file, const Geometry& grid);

// Writes it into the header of NIfTI-1 at the beginning of `bytes`, in the byte order of this machine.
void put(const NiftiPlacement& placement, std::string& bytes);

}  // namespace voxswap::data
