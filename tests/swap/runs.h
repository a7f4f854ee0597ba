// Trains for a few steps in tests of executors: with a runner without a plan, and with an executor.
#pragma once

#include "net/backends/backends.h"
#include "net/networks/networks.h"
#include "net/steps/step.h"
#include "swap/execute/executor.h"
#include "swap/planners/planner.h"
#include "tests/environment.h"
#include "tests/folder.h"
#include "tests/swap/graphs.h"
#include "tests/swap/swapped_plan.h"

namespace voxswap::test {

using Results = std::vector<std::vector<std::byte>>;

struct Poisoned : Environment {
  explicit Poisoned(bool on) : Environment("VOXSWAP_POISON", on ? "1" : "0") {}
};
struct Graphs : Environment {
  explicit Graphs(bool on) : Environment("VOXSWAP_GRAPHS", on ? "1" : "0") {}
};

inline net::StepOptions tiny(const std::string& network) {
  net::StepOptions options;
  options.network.name = network;
  options.network.base_filters = 2;
  options.network.depth = 3;
  options.input = {1, 8, 8, 8, 2};
  if (net::has_levels(network)) options.network.deep_supervision = {1, 0.5};
  if (net::takes_images(network)) {
    options.network.depth = 1;
    options.network.dropout = 0;
    options.input = {2, 1, 21, 12, 2};
    options.loss = net::loss_options(net::Loss::softmax_cross_entropy);
  }
  options.optimizer.small_parameter = 32;  // vectors but no weights, so that their group stays small too
  return options;
}

// Kinds of plans that tests iterate over.
struct PlanVariant {
  const char* name;
  std::optional<SwapOptions> options;  // none: the planner keep
  bool large = false;                  // values of two disk accesses, the second of less than a block
};
inline const std::vector<PlanVariant>& plan_variants() {
  static const std::vector<PlanVariant> list = {
      {"keep", std::nullopt},
      {"host", SwapOptions{.chunk = 48}},
      {"host, whole values, apart", SwapOptions{.in_place = false}},
      {"host, copies given up, odd chunks", SwapOptions{.copies_stay = false, .chunk = 80}},
      {"disk", SwapOptions{.host = false, .disk = true}, true},
      {"host and disk, little values", SwapOptions{.disk = true}},
      {"host and disk, copies given up", SwapOptions{.disk = true, .copies_stay = false}, true},
      {"streams", SwapOptions{.streams = true, .chunk = 48}},
      {"streams, host and disk", SwapOptions{.disk = true, .streams = true, .copies_stay = false}, true},
      {"streams and recomputation", SwapOptions{.recompute = true, .streams = true, .chunk = 64}},
      {"recomputation", SwapOptions{.host = false, .recompute = true}},
      {"host and recomputation", SwapOptions{.recompute = true, .chunk = 48}},
      {"host, disk and recomputation", SwapOptions{.disk = true, .recompute = true, .copies_stay = false},
       true},
  };
  return list;
}
inline Shape volume_of(const PlanVariant& variant) {
  return variant.large ? Shape{1, 8, 8, 5, 4} : Shape{1, 2, 2, 2, 4};
}
inline swap::Plan plan_by(const std::optional<SwapOptions>& options, const net::Graph& graph,
                          const std::vector<std::int64_t>& workspaces,
                          const std::vector<net::ValueId>& kept) {
  if (options) return swap_everything(graph, workspaces, kept, *options);
  return swap::make_plan("keep", {&graph, workspaces, {}, kept});
}

struct Trained {
  const net::Graph& graph;
  std::vector<net::ValueId> inputs, kept;
};
inline Trained of(const net::TrainingStep& step) {
  return {step.graph, {step.input[0], step.target[0]}, {step.loss}};
}
inline Trained of(const SmallStep& step) {
  return {step.graph, step.inputs, step.kept};
}

// An executor that measures this detail; for lanes only, it may take kernels in groups.
class InDetail {
 public:
  InDetail(swap::Executor& executor, swap::Detail detail) : executor_(&executor), detail_(detail) {}
  void write(net::ValueId value, const void* bytes, std::int64_t size) {
    executor_->write(value, bytes, size);
  }
  void read(net::ValueId value, void* bytes, std::int64_t size) { executor_->read(value, bytes, size); }
  void run(const net::StepContext& context) { executor_->run(context, detail_); }

 private:
  swap::Executor* executor_;
  swap::Detail detail_;
};

inline Results without_plan(const Trained& run, int steps) {
  const std::unique_ptr<net::Backend> backend = net::make_backend("reference");
  NaiveRunner runner(*backend, run.graph);
  return train(runner, run.graph, run.inputs, run.kept, steps);
}

// A step planned by plan_by(), ready to run.
struct Ready {
  Ready(const Trained& run, const std::optional<SwapOptions>& options,
        const swap::ExecutorOptions& execution = {})
      : compiled(*backend, run.graph),
        plan(plan_by(options, run.graph, compiled.workspaces(), run.kept)),
        tiers(swap::allocate_tiers(*backend, {&plan}, folder.path())),
        executor(compiled, plan, tiers, execution) {}
  TemporaryFolder folder;
  std::unique_ptr<net::Backend> backend = net::make_backend("reference");
  swap::CompiledGraph compiled;
  swap::Plan plan;
  swap::Tiers tiers;
  swap::Executor executor;
};

inline Results trained(const Trained& run, const std::optional<SwapOptions>& options, int steps,
                       const swap::ExecutorOptions& execution = {}) {
  Ready step(run, options, execution);
  return train(step.executor, run.graph, run.inputs, run.kept, steps);
}

}  // namespace voxswap::test
