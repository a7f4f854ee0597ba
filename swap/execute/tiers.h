// The memories of a step, and their allocation.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/keys.h"
#include "net/backends/backend.h"
#include "swap/execute/scratch_file.h"
#include "swap/plan/plan.h"

namespace voxswap::swap {

// The memories of a step. Several executors may share them, as training and validation do: persistent values
// have the same offsets in each.
struct Tiers {
  std::shared_ptr<net::Memory> arena;
  std::shared_ptr<net::Memory> host;  // null if no plan needs it
  std::shared_ptr<ScratchFile> disk;  // null if no plan needs it
};

// Allocates the memories that the plans need: arena and host pool of exact size, after checking that the
// machine (and its cgroup) has both together, and the scratch file, after checking the space on disk. Throws
// Exit::does_not_fit. Null plans are skipped. For planner
// `unified` the arena is managed memory, of which the device holds no more than the budget.
//
// Free host memory is an estimate, and far too low on virtual machines that grow only on use. If the user set
// the host budget (`host_as_asked`) and the device has its own memory, the estimate is ignored: the pool is
// allocated page by page, or fails.
Tiers allocate_tiers(net::Backend& backend, const std::vector<const Plan*>& plans,
                     const fs::path& disk_folder, bool host_as_asked = false);

// Throws Exit::failed if the memories are smaller than the plan's.
void check_sizes(const Plan& plan, const Tiers& tiers);

}  // namespace voxswap::swap
