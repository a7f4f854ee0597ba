// The version of the library.
#pragma once

namespace voxswap {

const char* version();  // "0.3.0"

}  // namespace voxswap
