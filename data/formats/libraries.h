// Versions of the libraries used here, for `voxswap info`.
#pragma once

#include <string>

namespace voxswap::data {

std::string data_libraries();  // "ITK 5.2.1"

}  // namespace voxswap::data
