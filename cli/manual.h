// The manual page, voxswap(1), as roff: written from the tables that the help is printed from.
#pragma once

#include <string>

namespace voxswap::cli {

std::string manual_page();

}  // namespace voxswap::cli
