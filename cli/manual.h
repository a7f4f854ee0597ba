// The manual page, voxswap(1), in roff, from the tables behind help.
#pragma once

#include <string>

namespace voxswap::cli {

std::string manual_page();

}  // namespace voxswap::cli
