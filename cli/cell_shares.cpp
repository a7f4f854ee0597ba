#include "cli/cell_shares.h"

#include <cstdlib>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "base/units.h"
#include "net/backends/backend.h"
#include "net/backends/backends.h"
#include "net/collective/launched.h"

namespace voxswap::cli {

namespace {

bool uses_gpus(const experiments::Sweep& sweep) {
  const std::string& device = sweep.cells[0].experiment.memory.device;
  return device == "cuda" || (device == "auto" && net::device_count("cuda") > 0);
}

// Cells that run in parallel must use the same kind of device without a fixed device number.
void check_devices(const experiments::Sweep& sweep, const std::string& jobs) {
  const std::string& device = sweep.cells[0].experiment.memory.device;
  for (const experiments::SweepCell& cell : sweep.cells) {
    const std::string& other = cell.experiment.memory.device;
    if (other != device || other.starts_with("cuda:"))
      fail(Exit::usage,
           "{}: the cell {} sets memory.device {}. Cells that run in parallel need memory.device: cuda, "
           "which gives each its own GPU, or share a cpu",
           jobs, cell.name, other);
  }
}

pipeline::Machine machine_with(std::int64_t host_bytes) {
  pipeline::Machine machine = pipeline::this_machine();
  if (host_bytes > 0) machine.host_bytes = host_bytes;
  return machine;
}

}  // namespace

SweepShares share_machine(const experiments::Sweep& sweep, std::int64_t jobs, std::int64_t host_bytes) {
  const pipeline::Machine machine = machine_with(host_bytes);
  if (jobs == one_per_device)
    jobs = uses_gpus(sweep) ? std::max<std::int64_t>(std::ssize(machine.gpus), 1) : 1;
  if (jobs > 1) check_devices(sweep, format("--jobs {}", jobs));
  SweepShares result;
  result.on_gpus = uses_gpus(sweep);
  result.shares = pipeline::share_out(machine, jobs, result.on_gpus);
  result.host_bytes = machine.host_bytes;
  result.asked = jobs;
  if (static_cast<std::int64_t>(result.shares.size()) < jobs)
    log::warn("--jobs {}: running only {} in parallel, because each needs {} of its own", jobs,
              result.shares.size(), result.on_gpus ? "a GPU" : "a core");
  // An explicit limit also applies to a single cell at a time.
  if (result.shares.size() == 1 && host_bytes == 0) result.host_bytes = 0;
  return result;
}

SweepShares share_among_ranks(const experiments::Sweep& sweep, std::int64_t host_bytes) {
  const std::size_t ranks = net::launched_place().count;
  if (net::launched_count() > 1) check_devices(sweep, counted(net::launched_count(), "rank"));
  const pipeline::Machine machine = machine_with(host_bytes);
  SweepShares result;
  result.on_gpus = uses_gpus(sweep);
  result.asked = static_cast<std::int64_t>(ranks);
  result.host_bytes = ranks == 1 && host_bytes == 0 ? 0 : machine.host_bytes;
  if (result.on_gpus) {
    result.shares = pipeline::share_out(machine, result.asked, true);
    return result;
  }
  const bool cut = std::getenv("OMP_NUM_THREADS") == nullptr && !pipeline::was_bound();
  for (std::size_t rank = 0; rank < ranks; ++rank)
    result.shares.push_back({machine.host_bytes / result.asked,
                             cut ? pipeline::cores_of_rank(machine, rank, ranks) : std::vector<int>(), ""});
  return result;
}

std::vector<CellShare> all_shares(net::Ranks& ranks, const SweepShares& here) {
  const std::size_t index = net::launched_place().index;
  const std::int64_t bytes = index < here.shares.size() ? here.shares[index].host_bytes : -1;
  const std::vector<std::string> all =
      net::gather(ranks, format("{} {} {}", pipeline::this_kernel(), bytes, here.on_gpus ? 1 : 0));
  std::vector<CellShare> shares;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const std::vector<std::string> words = split(all[rank], ' ');
    const auto host_bytes = parse_number<std::int64_t>(words[1]).value_or(-1);
    if (host_bytes >= 0) shares.push_back({static_cast<int>(rank), words[0], host_bytes, words[2] == "1"});
  }
  return shares;
}

std::vector<std::string> share_overrides(const experiments::SweepCell& cell, const SweepShares& shares,
                                         const pipeline::MachineShare& share) {
  if (shares.shares.size() == 1 && shares.host_bytes == 0) return {};
  if (!cell.question.as.empty()) return {};  // a device that is not in this machine is not shared
  const pipeline::MemoryOptions& asked = cell.experiment.memory;
  const pipeline::MemoryOptions settled = pipeline::within_share(asked, share, shares.on_gpus);
  std::vector<std::string> overrides;
  if (settled.budget_bytes != asked.budget_bytes)
    overrides.push_back(format("memory.budget={}B", *settled.budget_bytes));
  if (settled.host_bytes != asked.host_bytes)
    overrides.push_back(*settled.host_bytes > 0 ? format("memory.host={}B", *settled.host_bytes)
                                                : "memory.host=none");
  return overrides;
}

}  // namespace voxswap::cli
