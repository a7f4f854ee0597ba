// Writing a DICOM series.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// Names of the files that write_dicom() writes.
inline std::vector<std::string> dicom_names(std::int64_t slices) {
  std::vector<std::string> names;
  for (std::int64_t z = 0; z < slices; ++z) names.push_back(format("IM{:04}.dcm", z + 1));
  return names;
}

// Writes a series into an empty folder: integers from 0 to 65535, one slice per file, deterministic. `uid`
// ("3.1") identifies the series.
void write_dicom(const fs::path& folder, const Image& image, const std::string& description,
                 const std::string& uid);

}  // namespace voxswap::data
