// Follows a plan: kernels compiled once, one arena, one host pool, one scratch file, a stream per lane, and
// no allocation and no host synchronisation inside a step.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "net/backends/backend.h"
#include "net/collective/exchange.h"
#include "swap/execute/step_report.h"
#include "swap/execute/tiers.h"
#include "swap/plan/plan.h"

namespace voxswap::swap {

// Kernels for every node of a graph, made before the plan because the plan holds their workspaces.
class CompiledGraph {
 public:
  // `exchange`: makes the kernels of exchanges, of which a graph for one rank has none.
  CompiledGraph(net::Backend& backend, net::Graph graph, net::Exchange* exchange = nullptr);
  const net::Graph& graph() const { return graph_; }
  const std::vector<std::int64_t>& workspaces() const { return workspaces_; }
  net::Kernel& kernel(net::NodeId node) { return *kernels_[static_cast<std::size_t>(node)]; }
  net::Backend& backend() { return *backend_; }

 private:
  net::Backend* backend_;
  net::Graph graph_;
  std::vector<std::unique_ptr<net::Kernel>> kernels_;
  std::vector<std::int64_t> workspaces_;
};

struct ExecutorOptions {
  double to_host_rate = 0, to_device_rate = 0;  // bytes/s: a slower link is imitated; 0: as fast as it is
  bool serial = false;  // one instruction after the other on one stream: for measuring each by itself
};

class Executor {
 public:
  // Refuses (assert-like Error, Exit::failed) a plan that does not verify. REQUIRES: tiers at least as large
  // as the plan's peaks.
  Executor(CompiledGraph& compiled, Plan plan, Tiers tiers, ExecutorOptions options = {});
  ~Executor();

  // Inputs are written before every step (their places are used again within it), persistent values whenever
  // no step runs; kept and persistent values are read after it. REQUIRES: of the value's size in bytes. With
  // a shared arena a step destroys what the other executors keep, persistent values excepted.
  void write(net::ValueId value, const void* bytes, std::int64_t size);
  void read(net::ValueId value, void* bytes, std::int64_t size);
  // What fails on any stream (a copy, the disk) is thrown here, as Error; the executor can then only be
  // destroyed. `meanwhile` is called when all is enqueued, before the caller waits for the step; what it
  // throws is thrown when the step is done.
  const StepReport& run(const net::StepContext& context, Detail detail = Detail::instructions,
                        const std::function<void()>& meanwhile = {});
  const Plan& plan() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace voxswap::swap
