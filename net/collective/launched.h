// The ranks as which mpirun or srun started this program.
#pragma once

#include "net/collective/ranks.h"

namespace voxswap::net {

// Joins the others the first time that it is called, where there are any; alone() otherwise. MPI is not
// touched where nobody launched several ranks. Throws Exit::usage where several were launched and this
// program was built without MPI.
Ranks& launched_ranks();

// Of the launcher's environment, without joining anybody: 0 of 1 where there is none.
int launched_rank();
int launched_count();

// The last thing that a rank does when all goes well, as all do; waits for the others.
void leave_ranks();
// Ends all ranks at once, with this exit code. Returns where there are no others.
void end_all_ranks(int exit_code);

}  // namespace voxswap::net
