// The ranks as which mpirun or srun started this program.
#pragma once

#include <string_view>

#include "net/collective/ranks.h"

namespace voxswap::net {

// Joins the other ranks on the first call, if there are any, else returns alone(). Uses MPI only if several
// ranks were launched. Throws Exit::usage if so and this build has no MPI.
Ranks& launched_ranks();

// Rank and number of ranks from the launcher's environment, without joining; 0 of 1 if there is none.
int launched_rank();
int launched_count();

// Likewise: index among the ranks on this machine, and their number. 0 of 1 if the launcher does not report
// it.
struct LaunchedPlace {
  std::size_t index = 0, count = 1;
};
LaunchedPlace launched_place();
// True for environment variables that would make a child process a rank, recognised by prefix.
bool makes_a_rank(std::string_view variable);

// Calls Ranks::leave() if several ranks have joined and not left yet. Call it when all went well.
void leave_ranks();
bool have_left();  // several ranks joined and have left
// Ends all ranks at once with this exit code. Returns if there are no others.
void end_all_ranks(int exit_code);

// Ranks over MPI, in a separate module, libvoxswap_mpi.so, which is loaded only when ranks were launched
// (launched.cpp). So the program runs without MPI installed.
extern "C" {

// Starts MPI. Returns null if MPI lacks thread support (MPI_THREAD_SERIALIZED). Only one thread at a time may
// use the result.
Ranks* voxswap_join_mpi();
bool voxswap_has_left_mpi();            // by Ranks::leave(). REQUIRES: joined
void voxswap_abort_mpi(int exit_code);  // likewise; ends all ranks, unless they have left
}

}  // namespace voxswap::net
