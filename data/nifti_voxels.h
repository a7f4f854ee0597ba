// The voxels of a NIfTI-1 file, read without the NIfTI library. That library, and ITK which uses it, replaces
// NaN by 0 and what is missing of a truncated file by nothing or zeros, and says so to nobody. Headers and
// geometry are ITK's.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace voxswap {

// Why the file does not begin as a NIfTI-1 image, as the end of a sentence ("is no NIfTI image: …"); empty
// when it does.
std::string nifti_trouble(const std::filesystem::path& path);

struct NiftiFile {
  std::string bytes;       // the whole file, unpacked
  bool swapped = false;    // written on a machine of the other byte order
  int datatype = 0;        // code of nifti1.h
  std::size_t offset = 0;  // of the first voxel
  std::size_t voxels = 0;  // of one volume
  std::size_t volumes = 0;
  double slope = 1, intercept = 0;  // value = slope * stored + intercept
};

// Throws Exit::bad_data for a file that is truncated, damaged (gzip's own checksum is checked) or of a type
// that is no number.
NiftiFile load_nifti(const std::filesystem::path& path);
std::vector<float> nifti_volume(const NiftiFile& file, std::size_t volume);

}  // namespace voxswap
