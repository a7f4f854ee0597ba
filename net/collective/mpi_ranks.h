// Ranks that talk through MPI: a module of its own, libvoxswap_mpi.so, which is opened where ranks were
// launched (launched.cpp). So the program itself needs no MPI, and runs where there is none.
#pragma once

#include "net/collective/ranks.h"

namespace voxswap::net {

extern "C" {

// Starts MPI. Null where it takes calls of one thread alone; one thread at a time may use what is returned.
Ranks* voxswap_join_mpi();
bool voxswap_has_left_mpi();            // by Ranks::leave(). REQUIRES: joined
void voxswap_abort_mpi(int exit_code);  // likewise; ends all ranks, unless they have left
}

}  // namespace voxswap::net
