// Ranks over MPI, in a separate module, libvoxswap_mpi.so, which is loaded only when ranks were launched
// (launched.cpp). So the program runs without MPI installed.
#pragma once

#include "net/collective/ranks.h"

namespace voxswap::net {

extern "C" {

// Starts MPI. Returns null if MPI lacks thread support (MPI_THREAD_SERIALIZED). Only one thread at a time may
// use the result.
Ranks* voxswap_join_mpi();
bool voxswap_has_left_mpi();            // by Ranks::leave(). REQUIRES: joined
void voxswap_abort_mpi(int exit_code);  // likewise; ends all ranks, unless they have left
}

}  // namespace voxswap::net
