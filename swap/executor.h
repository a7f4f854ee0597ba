// Follows a plan: kernels compiled once, one arena, no allocation inside a step.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "net/backend.h"
#include "swap/plan.h"

namespace voxswap {

struct StepReport {
  double seconds = 0;  // wall time of the step
};

// Kernels for every node of a graph, made before the plan because the plan holds their workspaces.
class CompiledGraph {
 public:
  CompiledGraph(Backend& backend, Graph graph);
  const Graph& graph() const { return graph_; }
  const std::vector<std::int64_t>& workspaces() const { return workspaces_; }
  Kernel& kernel(NodeId node) { return *kernels_[static_cast<std::size_t>(node)]; }
  Backend& backend() { return *backend_; }

 private:
  Backend* backend_;
  Graph graph_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::vector<std::int64_t> workspaces_;
};

// Several executors may share one arena (training and validation do): persistent values lie at the same
// offsets in each.
class Executor {
 public:
  // Refuses (assert-like Error, Exit::failed) a plan that does not verify. REQUIRES: arena->bytes() >=
  // plan.peak_bytes.
  Executor(CompiledGraph& compiled, Plan plan, std::shared_ptr<Memory> arena);
  ~Executor();

  // Inputs are written before every step (their places are used again within it), persistent values whenever
  // no step runs; kept and persistent values are read after it. REQUIRES: of the value's size in bytes. With
  // a shared arena a step destroys what the other executors keep, persistent values excepted.
  void write(ValueId value, const void* bytes, std::int64_t size);
  void read(ValueId value, void* bytes, std::int64_t size);
  StepReport run(const StepContext& context);
  const Plan& plan() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace voxswap
