// The program from its arguments on: help, and the choice of the command.
#pragma once

#include "cli/commands.h"

namespace voxswap::cli {

// Runs `voxswap ARGUMENTS...`, help and wrong command names included.
Exit dispatch(const Arguments& arguments);

}  // namespace voxswap::cli
