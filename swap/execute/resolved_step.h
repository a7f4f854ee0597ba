// A plan's instructions with addresses, argument lists, disk accesses and events resolved, once before the
// first step.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "net/backends/backend.h"
#include "net/collective/exchange.h"
#include "swap/execute/scratch_file.h"
#include "swap/execute/slow_link.h"
#include "swap/execute/step_command.h"
#include "swap/execute/streamed_values.h"
#include "swap/execute/tiers.h"
#include "swap/plan/places.h"
#include "swap/plan/plan.h"

namespace voxswap::swap {

// Kernels for every node of a graph, compiled before planning because the plan contains their workspaces.
class CompiledGraph {
 public:
  // `exchange`: makes the kernels of exchanges, of which a graph for one rank has none.
  CompiledGraph(net::Backend& backend, net::Graph graph, net::Exchange* exchange = nullptr);
  const net::Graph& graph() const { return graph_; }
  const std::vector<std::int64_t>& workspaces() const { return workspaces_; }
  net::Kernel& kernel(net::NodeId node) { return *kernels_[static_cast<std::size_t>(node)]; }
  net::Backend& backend() { return *backend_; }
  bool exchanges_on_host() const { return exchanges_on_host_; }  // for a host stream
  std::int64_t guard_bytes() const { return guard_bytes_; }      // that each of workspaces() ends with

 private:
  net::Backend* backend_;
  bool exchanges_on_host_;
  std::int64_t guard_bytes_;
  net::Graph graph_;
  std::vector<std::unique_ptr<net::Kernel>> kernels_;
  std::vector<std::int64_t> workspaces_;
};

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
