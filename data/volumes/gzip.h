// Compresses bytes as gzip.
#pragma once

#include <string>
#include <string_view>

namespace voxswap::data {

// The same bytes for the same content: no time and no name is in them.
std::string gzipped(std::string_view bytes);

}  // namespace voxswap::data
