// Divides the machine among experiments that run in parallel, so that together they stay within the memory,
// cores and devices of one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "pipeline/cases/experiment.h"

namespace voxswap::pipeline {

struct Gpu {
  std::string id;          // as in CUDA_VISIBLE_DEVICES, in PCI bus order
  std::vector<int> cores;  // of its NUMA node; empty: unknown
};

struct Machine {
  std::int64_t host_bytes = 0;  // for all experiments together: free memory less a reserve
  std::vector<int> cores;       // that this process may use, sorted by NUMA node
  std::vector<Gpu> gpus;        // NVIDIA GPUs visible through CUDA_VISIBLE_DEVICES
};
// `root`: location of /proc and /sys.
Machine this_machine(const fs::path& root = "/");

// Sorts cores by NUMA node, so that contiguous parts are on one node if possible.
std::vector<int> by_node(std::vector<int> cores, const fs::path& root);
std::string core_text(std::vector<int> cores);  // "0-3,8"

struct MachineShare {
  std::int64_t host_bytes = 0;
  std::vector<int> cores;
  std::string gpu;  // empty: not bound
};
// At most `jobs` shares with equal memory and disjoint cores: on a CPU at most one per core, on GPUs at most
// one per GPU, with cores of its NUMA node. A single share is the whole machine without binding.
std::vector<MachineShare> share_out(const Machine& machine, std::int64_t jobs, bool on_gpus);

// Cores of one of `count` ranks on this machine if the launcher did not bind them; empty if there are more
// ranks than cores.
std::vector<int> cores_of_rank(const Machine& machine, std::size_t index, std::size_t count);
// Identifies the running kernel: equal for all processes on a machine, also in different containers.
std::string this_kernel();
// True if the affinity mask of this process differs from its parent's.
bool was_bound();

// Replaces `auto` in the memory keys by values within the share.
MemoryOptions within_share(MemoryOptions memory, const MachineShare& share, bool on_gpu);

// Maximum host memory of an experiment. REQUIRES: no key is `auto`.
std::int64_t claimed_bytes(const MemoryOptions& memory, bool on_gpu);

}  // namespace voxswap::pipeline
