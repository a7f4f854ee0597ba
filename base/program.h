// Where this program, or the shared library that contains this code, is installed.
#pragma once

#include "base/file.h"

namespace voxswap {

// The folder of the shared library if this code is in one, otherwise that of the program; links are resolved.
fs::path program_folder();

}  // namespace voxswap
