// Allocates the memories of a step; all sizes are checked before anything is allocated.
#include "swap/execute/tiers.h"

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/keys.h"
#include "base/units.h"
#include "swap/execute/scratch_file.h"
#include "swap/plan/plan.h"

namespace voxswap::swap {
namespace {

struct Sizes {
  std::int64_t arena = 0, host = 0, disk = 0;
  std::int64_t streamed = 0;  // allocated elsewhere (Executor, lent inputs)
  std::int64_t resident = 0;  // device bytes of a paged arena; 0: all of it
  std::int64_t paged_out() const { return resident > 0 ? std::max<std::int64_t>(arena - resident, 0) : 0; }
};

Sizes largest(const std::vector<const Plan*>& plans) {
  Sizes sizes;
  for (const Plan* plan : plans) {
    if (plan == nullptr) continue;
    sizes.arena = std::max(sizes.arena, plan->peak_bytes);
    sizes.host = std::max(sizes.host, plan->host_bytes);
    sizes.disk = std::max(sizes.disk, plan->disk_bytes);
    sizes.streamed = std::max(sizes.streamed, plan->streamed_bytes);
    if (plan->paged) sizes.resident = plan->budget_bytes;
  }
  return sizes;
}

// Bytes of images and results that wait for their copies, outside the pool.
std::string beside_text(const Sizes& sizes) {
  return sizes.streamed == 0 ? "" : format(" (and {} for streamed values)", format_bytes(sizes.streamed));
}

constexpr const char* within_cgroup = "on this machine (or within its cgroup's limit)";

void check_together(std::int64_t free, const Sizes& sizes) {
  const std::int64_t host = sizes.host + sizes.streamed;
  if (sizes.arena + host <= free) return;
  if (host == 0)
    fail(Exit::does_not_fit,
         "memory: an arena of {} is needed, but {} are free {}. Lower {}, or end other programs",
         format_bytes(sizes.arena), format_bytes(free), within_cgroup, key::memory_budget);
  fail(Exit::does_not_fit,
       "memory: an arena of {} and a host pool of {}{} are needed at the same time, but {} are free {}. "
       "Lower {}, or end other programs",
       format_bytes(sizes.arena), format_bytes(sizes.host), beside_text(sizes), format_bytes(free),
       within_cgroup,
       sizes.arena > sizes.host
           ? format("{} (the arena)", key::memory_budget)
           : format("{} (the pool; the rest then goes to {})", key::memory_host, key::memory_disk));
}

void check_apart(const net::Backend& backend, const Sizes& sizes, bool host_as_asked) {
  if (const std::int64_t free = backend.free_bytes(); sizes.arena > free)
    fail(Exit::does_not_fit,
         "device memory: an arena of {} is needed, but {} are free. Lower {} or end other programs",
         format_bytes(sizes.arena), format_bytes(free), key::memory_budget);
  if (host_as_asked) return;
  const std::int64_t free = backend.free_host_bytes();
  if (sizes.paged_out() > free)
    fail(Exit::does_not_fit,
         "host memory: {} of the arena do not fit into {}, but {} are free {}. Set {} explicitly to use more "
         "than that, set a larger {}, or end other programs",
         format_bytes(sizes.paged_out()), key::memory_budget, format_bytes(free), within_cgroup,
         key::memory_host, key::memory_budget);
  if (sizes.host + sizes.streamed > free)
    fail(Exit::does_not_fit,
         "host memory: a pool of {}{} is needed, but {} are free {}. Set {} explicitly to use more than "
         "that, set it to less (the rest then goes to {}), or end other programs",
         format_bytes(sizes.host), beside_text(sizes), format_bytes(free), within_cgroup, key::memory_host,
         key::memory_disk);
}

}  // namespace

Tiers allocate_tiers(net::Backend& backend, const std::vector<const Plan*>& plans,
                     const fs::path& disk_folder, bool host_as_asked) {
  const Sizes sizes = largest(plans);
  if (backend.computes_on_host())
    check_together(backend.free_bytes(), sizes);
  else
    check_apart(backend, sizes, host_as_asked);
  Tiers tiers;
  if (sizes.disk > 0) tiers.disk = std::make_shared<ScratchFile>(disk_folder, sizes.disk);
  // Whole blocks, because disk accesses move whole blocks.
  if (sizes.host > 0) tiers.host = backend.allocate_host(whole_blocks(sizes.host));
  tiers.arena = sizes.resident > 0 ? backend.allocate_unified(sizes.arena, sizes.resident)
                                   : backend.allocate(sizes.arena);
  return tiers;
}

void check_sizes(const Plan& plan, const Tiers& tiers) {
  const auto check = [](const char* what, std::int64_t needed, std::int64_t given) {
    if (given < needed)
      fail(Exit::failed, "the plan needs {} of {}, but was given {}", what, format_bytes(needed),
           format_bytes(given));
  };
  check("an arena", plan.peak_bytes, tiers.arena ? tiers.arena->bytes() : 0);
  check("a host pool", plan.host_bytes, tiers.host ? tiers.host->bytes() : 0);
  check("a scratch file", plan.disk_bytes, tiers.disk ? tiers.disk->bytes() : 0);
}

}  // namespace voxswap::swap
