#include "pipeline/sweep/sweep_shares.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "base/units.h"
#include "net/backends/cpu/host_device.h"
#include "pipeline/plan/planning.h"

namespace voxswap::pipeline {

namespace {

// The cores that a process may use (0: this one); empty if unknown.
std::vector<int> usable_cores(pid_t process) {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(process, sizeof set, &set) == 0)
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

// Parses the kernel's list format, "0-3,8"; empty if invalid.
std::vector<int> core_list(const fs::path& file) {
  std::vector<int> cores;
  for (const std::string& range : split(trim(read_if_possible(file)), ',')) {
    const std::size_t dash = range.find('-');
    const auto first = parse_number<int>(range.substr(0, dash));
    const auto last = dash == range.npos ? first : parse_number<int>(range.substr(dash + 1));
    if (!first || !last) return {};
    for (int core = *first; core <= *last; ++core) cores.push_back(core);
  }
  return cores;
}

// True if the device file exists: in a container, /proc lists all GPUs of the host.
bool may_be_opened(const fs::path& root, const fs::path& folder) {
  std::istringstream stream(read_if_possible(folder / "information"));
  for (std::string line; std::getline(stream, line);) {
    const std::string key = "Device Minor:";
    if (line.starts_with(key)) return fs::exists(root / "dev" / ("nvidia" + trim(line.substr(key.size()))));
  }
  return false;
}

// In the order of the PCI bus.
std::vector<Gpu> installed_gpus(const fs::path& root) {
  std::set<fs::path> folders;
  error_code error;
  for (fs::directory_iterator at(root / "proc/driver/nvidia/gpus", error), end; !error && at != end; ++at)
    if (may_be_opened(root, at->path())) folders.insert(at->path());
  std::vector<Gpu> gpus;
  for (const fs::path& folder : folders)
    gpus.push_back({std::to_string(gpus.size()),
                    core_list(root / "sys/bus/pci/devices" / folder.filename() / "local_cpulist")});
  return gpus;
}

// GPUs that CUDA_VISIBLE_DEVICES leaves to this process, by number or other identifier.
std::vector<Gpu> visible_gpus(const fs::path& root) {
  std::vector<Gpu> gpus = installed_gpus(root);
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible == nullptr) return gpus;
  std::vector<Gpu> left;
  for (const std::string& entry : split(visible, ',')) {
    const std::string id = trim(entry);
    const auto found = std::ranges::find(gpus, id, &Gpu::id);
    if (id.empty() || id.starts_with('-')) break;  // like CUDA: ignores all entries after an invalid one
    left.push_back(found == gpus.end() ? Gpu{id, {}} : *found);
  }
  return left;
}

// Part `i` of `count` parts of the list, disjoint if there are enough cores.
std::vector<int> part(const std::vector<int>& cores, std::size_t i, std::size_t count) {
  if (cores.size() < count) return cores;
  const auto at = [&](std::size_t k) {
    return cores.begin() + static_cast<std::ptrdiff_t>(k * cores.size() / count);
  };
  return {at(i), at(i + 1)};
}

// Usable cores on the GPU's NUMA node; all if unknown.
std::vector<int> near(const Gpu& gpu, const std::vector<int>& usable) {
  std::vector<int> cores;
  std::ranges::copy_if(usable, std::back_inserter(cores),
                       [&](int core) { return std::ranges::find(gpu.cores, core) != gpu.cores.end(); });
  return cores.empty() ? usable : cores;
}

std::vector<MachineShare> shares_of_gpus(const Machine& machine, std::size_t count) {
  std::vector<MachineShare> shares(count);
  std::vector<std::vector<int>> nodes;
  for (std::size_t i = 0; i < count; ++i) {
    // Spread out, since neighbouring GPUs may share a link.
    const Gpu& gpu = machine.gpus[i * machine.gpus.size() / count];
    shares[i].gpu = gpu.id;
    nodes.push_back(near(gpu, machine.cores));
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto same = static_cast<std::size_t>(std::count(nodes.begin(), nodes.end(), nodes[i]));
    const auto before = static_cast<std::size_t>(
        std::count(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(i), nodes[i]));
    shares[i].cores = part(nodes[i], before, same);
  }
  return shares;
}

}  // namespace

Machine this_machine(const fs::path& root) {
  Machine machine;
  machine.host_bytes = without_reserve(net::free_host_bytes(root));
  std::vector<int> cores = usable_cores(0);
  if (cores.empty()) cores = {0};
  machine.cores = by_node(std::move(cores), root);
  machine.gpus = visible_gpus(root);
  return machine;
}

std::vector<int> by_node(std::vector<int> cores, const fs::path& root) {
  std::map<int, int> node_of;
  for (int node = 0;; ++node) {
    const fs::path file = root / format("sys/devices/system/node/node{}/cpulist", node);
    error_code ignored;
    if (!fs::exists(file, ignored)) break;
    for (const int core : core_list(file)) node_of[core] = node;
  }
  std::ranges::stable_sort(cores, {}, [&](int core) { return node_of[core]; });
  return cores;
}

std::string core_text(std::vector<int> cores) {
  std::sort(cores.begin(), cores.end());
  std::vector<std::string> ranges;
  for (std::size_t first = 0, last = 0; first < cores.size(); first = last + 1) {
    last = first;
    while (last + 1 < cores.size() && cores[last + 1] == cores[last] + 1) ++last;
    ranges.push_back(first == last ? std::to_string(cores[first])
                                   : format("{}-{}", cores[first], cores[last]));
  }
  return join(ranges, ",");
}

std::vector<MachineShare> share_out(const Machine& machine, std::int64_t jobs, bool on_gpus) {
  const std::size_t most = on_gpus ? machine.gpus.size() : machine.cores.size();
  const std::size_t count = std::max<std::size_t>(std::min(static_cast<std::size_t>(jobs), most), 1);
  if (count == 1) return {{machine.host_bytes, machine.cores, ""}};
  std::vector<MachineShare> shares(count);
  if (on_gpus) shares = shares_of_gpus(machine, count);
  for (std::size_t i = 0; i < count; ++i) {
    shares[i].host_bytes = machine.host_bytes / static_cast<std::int64_t>(count);
    if (!on_gpus) shares[i].cores = part(machine.cores, i, count);
  }
  return shares;
}

std::vector<int> cores_of_rank(const Machine& machine, std::size_t index, std::size_t count) {
  if (count > machine.cores.size()) return {};
  return share_out(machine, static_cast<std::int64_t>(count), false)[index].cores;
}

std::string this_kernel() {
  return trim(read_if_possible("/proc/sys/kernel/random/boot_id"));
}

bool was_bound() {
  const std::vector<int> mine = usable_cores(0), of_parent = usable_cores(getppid());
  return !mine.empty() && !of_parent.empty() && mine != of_parent;
}

MemoryOptions within_share(MemoryOptions memory, const MachineShare& share, bool on_gpu) {
  if (on_gpu) {
    memory.host_bytes = memory.host_bytes.value_or(share.host_bytes);
    return memory;
  }
  const swap::Budgets budgets = budgets_in_one_memory(share.host_bytes, memory);
  memory.budget_bytes = budgets.device;
  memory.host_bytes = budgets.host;
  return memory;
}

std::int64_t claimed_bytes(const MemoryOptions& memory, bool on_gpu) {
  return memory.host_bytes.value_or(0) + (on_gpu ? 0 : memory.budget_bytes.value_or(0));
}

}  // namespace voxswap::pipeline
