// Reads NIfTI files without the NIfTI library. That library, and ITK which uses it, silently replaces NaN by
// 0 and missing data of a truncated file by zeros, and trusts any header.
#pragma once

#include <vector>

#include "base/file.h"
#include "data/formats/header_text.h"

namespace voxswap::data {

ImageHeader nifti_header(const fs::path& path);

// Throws Exit::bad_data for a truncated or damaged file (gzip's checksum is verified) and for data types that
// are not scalars. Memory use is limited by the actual content, not by the size that the header declares.
std::vector<Image> nifti_volumes(const fs::path& path, const ChooseVolumes& choose);

void check_nifti(const fs::path& path);  // throws unless the file is complete

}  // namespace voxswap::data
