// A MONAI bundle as a run: what `export --to monai` wrote can be imported again, with its weights, which
// other programs may have trained further.
#pragma once

#include <cstdint>
#include <string>

#include "base/file.h"

namespace voxswap::library {

// In a bundle, describes its run: the text files of a model (model.h) of one repeat, and the metadata of its
// weights.
inline constexpr const char* bundle_description = "configs/voxswap.json";
std::string describe_bundle(const fs::path& run, std::int64_t repeat);

// True for a folder with the metadata of a MONAI bundle.
bool is_bundle(const fs::path& folder);

// Writes a run to `out`. Throws Exit::bad_data for damaged bundles, and for those of other programs, naming
// their network; Exit::usage if `out` is not empty.
void import_bundle(const fs::path& bundle, const fs::path& out);

}  // namespace voxswap::library
