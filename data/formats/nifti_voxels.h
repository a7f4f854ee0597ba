// Reads NIfTI files without the NIfTI library. That library, and ITK which uses it, silently replaces NaN by
// 0 and the missing part of a truncated file by zeros, and trusts any header.
#pragma once

#include <vector>

#include "base/file.h"
#include "data/formats/header_text.h"

namespace voxswap::data {

ImageHeader nifti_header(const fs::path& path);

// The volumes `first` to `first + count` (not included). Throws Exit::bad_data for a file that is truncated,
// damaged (gzip's own checksum is checked) or of a type that is no number. Memory is taken for what the file
// really holds, whatever its header promises.
std::vector<Image> nifti_volumes(const fs::path& path, std::int64_t first, std::int64_t count);

void check_nifti(const fs::path& path);  // throws unless the file is whole

}  // namespace voxswap::data
