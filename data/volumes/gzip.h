// Compresses bytes as gzip.
#pragma once

#include <string>
#include <string_view>

namespace voxswap::data {

// The same input always gives the same bytes: the header has no time and no file name.
std::string gzipped(std::string_view bytes);

}  // namespace voxswap::data
