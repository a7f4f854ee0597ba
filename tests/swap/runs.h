// Trainings of a few steps for the tests of executors: by a runner that knows no plan, and by an executor.
#pragma once

#include <cstdlib>

#include "net/backends/backends.h"
#include "net/networks/networks.h"
#include "net/steps/step.h"
#include "swap/execute/executor.h"
#include "tests/swap/graphs.h"

namespace voxswap::test {

using Results = std::vector<std::vector<std::byte>>;

// Sets an environment variable to 1 or 0 for as long as it lives.
class Setting {
 public:
  Setting(const char* name, bool on) : name_(name) { setenv(name, on ? "1" : "0", 1); }
  ~Setting() { unsetenv(name_); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* name_;
};
struct Poisoned : Setting {
  explicit Poisoned(bool on) : Setting("VOXSWAP_POISON", on) {}
};
struct Graphs : Setting {
  explicit Graphs(bool on) : Setting("VOXSWAP_GRAPHS", on) {}
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
  options.optimizer.small_parameter = 32;  // vectors, no weights: what they need together stays small as well
  return options;
}

struct Trained {
  const net::Graph& graph;
  std::vector<net::ValueId> inputs, kept;
};

// An executor whose steps are asked for so much detail: of lanes alone it may take kernels in groups.
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

}  // namespace voxswap::test
