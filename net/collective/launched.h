// The ranks as which mpirun or srun started this program.
#pragma once

#include <string_view>

#include "net/collective/ranks.h"

namespace voxswap::net {

// Joins the others the first time that it is called, where there are any; alone() otherwise. MPI is not
// touched where nobody launched several ranks. Throws Exit::usage where several were launched and this
// program was built without MPI.
Ranks& launched_ranks();

// Of the launcher's environment, without joining anybody: 0 of 1 where there is none.
int launched_rank();
int launched_count();

// Likewise: which of how many on this machine. Of one, where the launcher does not say.
struct LaunchedPlace {
  std::size_t index = 0, count = 1;
};
LaunchedPlace launched_place();
// What makes a program that inherits the environment one of the ranks, by how the names of variables begin.
bool makes_a_rank(std::string_view variable);

// Ranks::leave() of them, when all has gone well and nobody has left yet.
void leave_ranks();
bool have_left();  // several were launched, have joined and are parted
// Ends all ranks at once, with this exit code. Returns where there are no others.
void end_all_ranks(int exit_code);

}  // namespace voxswap::net
