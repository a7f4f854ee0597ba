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

// The memories of a step. Several executors may share them (training and validation do): persistent values
// lie at the same offsets in each.
struct Tiers {
  std::shared_ptr<net::Memory> arena;
  std::shared_ptr<net::Memory> host;  // null where no plan needs it
  std::shared_ptr<ScratchFile> disk;  // likewise
};

// Takes what the plans need, once: arena and host pool of exact size after checking that the machine (and its
// cgroup) has both together, the scratch file after checking that the disk has room. Throws
// Exit::does_not_fit, with `smaller` for what makes a step smaller. Null plans are skipped. For a plan of
// planner `unified` the arena is managed memory of which the device holds no more than the budget.
//
// How much host memory is free is an estimate, and some virtual machines, which grow only when memory is
// used, tell far too little. So where a user has said how much may be taken, `host_as_asked`, and the device
// has a memory of its own, the estimate does not count: the pool is taken, page by page, or is not there.
Tiers allocate_tiers(net::Backend& backend, const std::vector<const Plan*>& plans,
                     const fs::path& disk_folder, bool host_as_asked = false,
                     const std::string& smaller = std::string("a lower ") + key::preprocess_resolution);

// Throws Exit::failed where the memories are smaller than the plan's.
void check_sizes(const Plan& plan, const Tiers& tiers);

}  // namespace voxswap::swap
