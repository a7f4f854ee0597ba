// Ranks that talk through MPI.
#pragma once

#include "net/collective/ranks.h"

namespace voxswap::net {

Ranks& join_mpi();              // the first time starts it; one thread at a time may use what is returned
void leave_mpi();               // where it was started
void abort_mpi(int exit_code);  // likewise; then does not return

}  // namespace voxswap::net
