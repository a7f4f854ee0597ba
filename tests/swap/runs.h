// Trainings of a few steps for the tests of executors: by a runner that knows no plan, and by an executor.
#pragma once

#include <cstdlib>

#include "net/step.h"
#include "swap/executor.h"
#include "tests/swap/graphs.h"

namespace voxswap::test {

using Results = std::vector<std::vector<std::byte>>;

// Sets an environment variable for as long as it lives.
class Poisoned {
 public:
  explicit Poisoned(bool on) { setenv("VOXSWAP_POISON", on ? "1" : "0", 1); }
  ~Poisoned() { unsetenv("VOXSWAP_POISON"); }
  Poisoned(const Poisoned&) = delete;
  Poisoned& operator=(const Poisoned&) = delete;
};

inline StepOptions tiny(const std::string& network) {
  StepOptions options;
  options.network.name = network;
  options.network.base_filters = 2;
  options.network.depth = 3;
  options.input = {1, 8, 8, 8, 2};
  options.optimizer.small_parameter = 32;  // vectors, no weights: what they need together stays small as well
  return options;
}

struct Trained {
  const Graph& graph;
  std::vector<ValueId> inputs, kept;
};

inline Results without_plan(const Trained& run, int steps) {
  const std::unique_ptr<Backend> backend = make_backend("reference");
  NaiveRunner runner(*backend, run.graph);
  return train(runner, run.graph, run.inputs, run.kept, steps);
}

}  // namespace voxswap::test
