// Divides the machine among experiments that run in parallel, so that together they use no more memory, cores
// and devices than one alone may.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "pipeline/cases/options.h"

namespace voxswap::pipeline {

struct Gpu {
  std::string id;          // as CUDA_VISIBLE_DEVICES names it, counted in the order of the PCI bus
  std::vector<int> cores;  // of the NUMA node that it hangs on; empty: not known
};

struct Machine {
  std::int64_t host_bytes = 0;  // that experiments may take together: what is free, less a reserve
  std::vector<int> cores;       // that this process may run on, those of a NUMA node beside one another
  std::vector<Gpu> gpus;        // NVIDIA's, that CUDA_VISIBLE_DEVICES leaves
};
// `root`: where /proc and /sys are looked for.
Machine this_machine(const fs::path& root = "/");

// Cores with those of a NUMA node beside one another, so that a part of them is of one node where it can be.
std::vector<int> by_node(std::vector<int> cores, const fs::path& root);
std::string core_text(std::vector<int> cores);  // "0-3,8"

struct MachineShare {
  std::int64_t host_bytes = 0;
  std::vector<int> cores;
  std::string gpu;  // empty: none is bound
};
// At most `jobs` shares of equal memory and disjoint cores: on a CPU no more than there are cores, on GPUs no
// more than there are GPUs, each with cores of its own NUMA node. A single one is the whole machine, nothing
// bound.
std::vector<MachineShare> share_out(const Machine& machine, std::int64_t jobs, bool on_gpus);

// The part of one of `count` ranks on this machine whose launcher left all of it to each; empty where ranks
// are more than cores.
std::vector<int> cores_of_rank(const Machine& machine, std::size_t index, std::size_t count);
// One and the same for all processes that share a machine, whatever containers they are in.
std::string this_kernel();
// Whether whoever started this process lets it run on other cores than itself.
bool was_bound();

// The memory keys with what is `auto` settled within the share's memory.
MemoryOptions within_share(MemoryOptions memory, const MachineShare& share, bool on_gpu);

// The most that an experiment may take of the machine's memory. REQUIRES: nothing of it is `auto`.
std::int64_t claimed_bytes(const MemoryOptions& memory, bool on_gpu);

}  // namespace voxswap::pipeline
