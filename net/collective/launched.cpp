#include "net/collective/launched.h"

#include <cstdlib>

#include "base/error.h"
#ifdef VOXSWAP_MPI
#include "net/collective/mpi_ranks.h"
#endif

namespace voxswap::net {

namespace {

// OpenMPI's mpirun; other launchers and srun, which speak PMI.
constexpr const char* rank_names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
constexpr const char* count_names[] = {"OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "PMI_SIZE"};

int from_environment(const char* const (&names)[3], int otherwise) {
  for (const char* name : names)
    if (const char* text = std::getenv(name))
      if (const int value = std::atoi(text); value >= 0 && *text != '\0') return value;
  return otherwise;
}

}  // namespace

int launched_rank() {
  return from_environment(rank_names, 0);
}

// An srun of which no library was told (--mpi=none) gives no rank: its tasks are programs by themselves.
int launched_count() {
  return from_environment(rank_names, -1) < 0 ? 1 : from_environment(count_names, 1);
}

Ranks& launched_ranks() {
  if (launched_count() <= 1) return alone();
#ifdef VOXSWAP_MPI
  return join_mpi();
#else
  fail(Exit::usage,
       "{} ranks were launched, and this voxswap was built without MPI: build it where libopenmpi-dev is "
       "installed, or start one",
       launched_count());
#endif
}

void leave_ranks() {
#ifdef VOXSWAP_MPI
  leave_mpi();
#endif
}

void end_all_ranks([[maybe_unused]] int exit_code) {
#ifdef VOXSWAP_MPI
  abort_mpi(exit_code);
#endif
}

}  // namespace voxswap::net
