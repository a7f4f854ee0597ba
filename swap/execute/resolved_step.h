// Resolves addresses, argument lists, disk accesses and events of a plan's instructions, once before the
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
  // `exchange`: creates the kernels of exchanges; not needed for a graph of one rank.
  CompiledGraph(net::Backend& backend, net::Graph graph, net::Exchange* exchange = nullptr);
  const net::Graph& graph() const { return graph_; }
  const std::vector<std::int64_t>& workspaces() const { return workspaces_; }
  net::Kernel& kernel(net::NodeId node) { return *kernels_[static_cast<std::size_t>(node)]; }
  net::Backend& backend() { return *backend_; }
  bool exchanges_on_host() const { return exchanges_on_host_; }  // run on a host stream
  std::int64_t guard_bytes() const { return guard_bytes_; }      // at the end of each of workspaces()

 private:
  net::Backend* backend_;
  bool exchanges_on_host_;
  std::int64_t guard_bytes_;
  net::Graph graph_;
  std::vector<std::unique_ptr<net::Kernel>> kernels_;
  std::vector<std::int64_t> workspaces_;
};

using Links = std::array<std::unique_ptr<SlowLink>, lane_count>;  // null: a lane at full speed

// The objects that commands point to, which must outlive them.
struct StepParts {
  const Places& places;
  const Tiers& tiers;
  const StreamedValues& streamed;
  const Links& links;
  const net::StepContext& context;  // of the current step
  bool serial;                      // every instruction waits for the previous one
};

struct ResolvedStep {
  std::vector<StepCommand> commands;  // in the plan's order
  std::vector<void*> addresses;       // arguments of kernels are spans of it
  std::vector<std::unique_ptr<DiskAccess>> accesses;
};

// REQUIRES: the plan was verified. Throws Exit::failed if a disk access exceeds the host pool.
ResolvedStep resolve(CompiledGraph& compiled, const Plan& plan, const StepParts& parts);

// An event for ordering only, without a time if the device supports that.
std::unique_ptr<net::Event> make_order_event(net::Backend& backend);

}  // namespace voxswap::swap
