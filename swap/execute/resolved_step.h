// A plan's instructions with addresses, argument lists, disk accesses and events resolved, once before the
// first step.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "swap/execute/compiled_graph.h"
#include "swap/execute/disk_access.h"
#include "swap/execute/slow_link.h"
#include "swap/execute/step_command.h"
#include "swap/execute/streamed_values.h"
#include "swap/execute/tiers.h"
#include "swap/plan/places.h"
#include "swap/plan/plan.h"

namespace voxswap::swap {

using Links = std::array<std::unique_ptr<SlowLink>, lane_count>;  // null: a lane at its own speed

// What commands point into; all of it outlives them.
struct StepParts {
  const Places& places;
  const Tiers& tiers;
  const StreamedValues& streamed;
  const Links& links;
  const net::StepContext& context;  // of the step that runs
  bool serial;                      // every instruction waits for the one before
};

struct ResolvedStep {
  std::vector<StepCommand> commands;  // in the plan's order
  std::vector<void*> addresses;       // spans of it are the arguments of kernels
  std::vector<std::unique_ptr<DiskAccess>> accesses;
};

// REQUIRES: the plan was verified. Throws Exit::failed where a disk access does not fit the host pool.
ResolvedStep resolve(CompiledGraph& compiled, const Plan& plan, const StepParts& parts);

// An event that orders streams and tells no time, where the device has such.
std::unique_ptr<net::Event> make_order_event(net::Backend& backend);

}  // namespace voxswap::swap
