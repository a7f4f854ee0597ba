#include "net/collective/launched.h"

#include <dlfcn.h>

#include <cstdlib>

#include "base/error.h"
#include "base/filesystem.h"
#include "net/collective/mpi_ranks.h"

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

// The module, once it has been joined.
struct Mpi {
  Ranks* ranks = nullptr;
  decltype(&voxswap_leave_mpi) leave = nullptr;
  decltype(&voxswap_abort_mpi) abort = nullptr;
};
Mpi mpi;

// It lies beside the program. What MPI opens itself looks for MPI's names, so they have to be known to all.
void* open_module() {
  const fs::path beside = fs::read_symlink("/proc/self/exe").parent_path() / "libvoxswap_mpi.so";
  if (!fs::exists(beside))
    fail(Exit::usage,
         "{} ranks were launched, and this voxswap was built without MPI ({} is not there): build it where "
         "libopenmpi-dev is installed, or start one",
         launched_count(), beside.string());
  void* const module = dlopen(beside.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (module == nullptr)
    fail(Exit::failed, "{} ranks were launched, and MPI cannot be opened ({}): install OpenMPI, or start one",
         launched_count(), dlerror());
  return module;
}

template <class Function>
Function function_in(void* module, const char* name) {
  const auto function = reinterpret_cast<Function>(dlsym(module, name));
  if (function == nullptr) fail(Exit::failed, "libvoxswap_mpi.so has no {}: it is of another version", name);
  return function;
}

Ranks& join() {
  void* const module = open_module();
  mpi.leave = function_in<decltype(mpi.leave)>(module, "voxswap_leave_mpi");
  mpi.abort = function_in<decltype(mpi.abort)>(module, "voxswap_abort_mpi");
  mpi.ranks = function_in<decltype(&voxswap_join_mpi)>(module, "voxswap_join_mpi")();
  if (mpi.ranks == nullptr)
    fail(Exit::failed,
         "the MPI that this voxswap uses takes calls of one thread alone; it needs one built with "
         "MPI_THREAD_SERIALIZED, as OpenMPI is");
  return *mpi.ranks;
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
  static Ranks& ranks = join();
  return ranks;
}

void leave_ranks() {
  if (mpi.ranks == nullptr) return;
  wait_for_all(*mpi.ranks);  // sleeping, unlike MPI's own wait
  mpi.leave();
}

void end_all_ranks(int exit_code) {
  if (mpi.ranks != nullptr) mpi.abort(exit_code);
}

}  // namespace voxswap::net
