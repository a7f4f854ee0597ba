#include "net/collective/launched.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

namespace voxswap::net {

namespace {

// OpenMPI's mpirun; other launchers and srun, which use PMI.
constexpr const char* rank_names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
constexpr const char* count_names[] = {"OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "PMI_SIZE"};

int number_in(const char* variable) {  // -1: not set
  const char* const text = std::getenv(variable);
  return text == nullptr || *text == '\0' ? -1 : std::atoi(text);
}

int from_environment(const char* const (&names)[3], int otherwise) {
  for (const char* name : names)
    if (const int value = number_in(name); value >= 0) return value;
  return otherwise;
}

// Slurm's format: "2(x3),1" is two tasks on each of three nodes and one on the fourth.
int tasks_of_node(const char* text, int node) {
  while (*text != '\0' && node >= 0) {
    char* end = nullptr;
    const auto tasks = static_cast<int>(std::strtol(text, &end, 10));
    int nodes = 1;
    if (std::strncmp(end, "(x", 2) == 0) {
      nodes = static_cast<int>(std::strtol(end + 2, &end, 10));
      if (*end == ')') ++end;
    }
    if (node < nodes) return tasks;
    node -= nodes;
    if (*end != ',') break;
    text = end + 1;
  }
  return 0;
}

// The MPI module after joining.
struct Mpi {
  Ranks* ranks = nullptr;
  decltype(&voxswap_has_left_mpi) has_left = nullptr;
  decltype(&voxswap_abort_mpi) abort = nullptr;
};
Mpi mpi;

// The module is beside the program. Its symbols are made global, because libraries that MPI loads need MPI's
// symbols.
void* open_module() {
  const fs::path beside = fs::read_symlink("/proc/self/exe").parent_path() / "libvoxswap_mpi.so";
  if (!fs::exists(beside))
    fail(Exit::usage,
         "launched with {}, but this voxswap was built without MPI ({} is missing). Install libopenmpi-dev "
         "and build again, or start one rank",
         counted(launched_count(), "rank"), beside.string());
  void* const module = dlopen(beside.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (module == nullptr)
    fail(Exit::failed, "launched with {}, but MPI cannot be loaded ({}). Install OpenMPI, or start one rank",
         counted(launched_count(), "rank"), dlerror());
  return module;
}

template <class Function>
Function function_in(void* module, const char* name) {
  const auto function = reinterpret_cast<Function>(dlsym(module, name));
  if (function == nullptr)
    fail(Exit::failed, "libvoxswap_mpi.so has no {}, because it belongs to another version. Build again",
         name);
  return function;
}

Ranks& join() {
  void* const module = open_module();
  mpi.has_left = function_in<decltype(mpi.has_left)>(module, "voxswap_has_left_mpi");
  mpi.abort = function_in<decltype(mpi.abort)>(module, "voxswap_abort_mpi");
  mpi.ranks = function_in<decltype(&voxswap_join_mpi)>(module, "voxswap_join_mpi")();
  if (mpi.ranks == nullptr)
    fail(Exit::failed,
         "this MPI supports calls from one thread only. Use one with MPI_THREAD_SERIALIZED, such as OpenMPI");
  // Each rank joins alone if the launcher's MPI is too new for the loaded library, for example a host's
  // mpirun for the MPI of a container.
  if (const int joined = mpi.ranks->count(); joined != launched_count())
    fail(Exit::failed,
         "launched with {}, but MPI joins {}: the launcher's MPI does not match the loaded library. "
         "Use the mpirun of the same installation, in a container the one inside it",
         counted(launched_count(), "rank"), joined);
  return *mpi.ranks;
}

}  // namespace

int launched_rank() {
  return from_environment(rank_names, 0);
}

// Under srun --mpi=none there is no rank: each task is a separate program.
int launched_count() {
  return from_environment(rank_names, -1) < 0 ? 1 : from_environment(count_names, 1);
}

LaunchedPlace launched_place() {
  const int count = launched_count();
  const auto place = [&](int index, int of) {
    const bool possible = index >= 0 && index < of && of <= count;
    return possible ? LaunchedPlace{static_cast<std::size_t>(index), static_cast<std::size_t>(of)}
                    : LaunchedPlace{};
  };
  if (number_in("OMPI_COMM_WORLD_LOCAL_SIZE") > 0)
    return place(number_in("OMPI_COMM_WORLD_LOCAL_RANK"), number_in("OMPI_COMM_WORLD_LOCAL_SIZE"));
  const char* tasks = std::getenv("SLURM_STEP_TASKS_PER_NODE");
  return tasks == nullptr
             ? LaunchedPlace{}
             : place(number_in("SLURM_LOCALID"), tasks_of_node(tasks, number_in("SLURM_NODEID")));
}

bool makes_a_rank(std::string_view variable) {
  return variable.starts_with("OMPI_COMM_WORLD_") || variable.starts_with("PMIX_") ||
         variable.starts_with("PMI_");
}

Ranks& launched_ranks() {
  if (launched_count() <= 1) return alone();
  static Ranks& ranks = join();
  return ranks;
}

void leave_ranks() {
  if (mpi.ranks != nullptr) mpi.ranks->leave();
}

bool have_left() {
  return mpi.ranks != nullptr && mpi.has_left();
}

void end_all_ranks(int exit_code) {
  if (mpi.ranks != nullptr) mpi.abort(exit_code);
}

}  // namespace voxswap::net
