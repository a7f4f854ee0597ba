// Short trainings on a backend: initial state, inputs, and results.
#pragma once

#include <omp.h>

#include "net/backends/backends.h"
#include "net/networks/networks.h"
#include "net/steps/step.h"
#include "tests/net/run_graph.h"

namespace voxswap::net {

using Doubles = std::vector<double>;

// Sets the number of OpenMP threads while it exists.
class WithThreads {
 public:
  explicit WithThreads(int threads) : before_(omp_get_max_threads()) { omp_set_num_threads(threads); }
  ~WithThreads() { omp_set_num_threads(before_); }

 private:
  int before_;
};

inline Doubles filled(const Graph& graph, ValueId id, Fill fill, std::uint64_t stream) {
  return fill_values(fill, graph.value(id).shape.count(), stream);
}

// Sets parameters to their initial values for a seed, and the optimiser state to that before the first step.
inline void begin(GraphRun& run, const TrainingStep& step, std::uint64_t seed) {
  const auto set = [&](ValueId id, const std::vector<float>& values) {
    run.set(id, {values.begin(), values.end()});
  };
  for (std::size_t i = 0; i < step.parameters.size(); ++i)
    set(step.parameters[i], initial_value(step.graph, step.parameters[i], i, seed));
  for (const ValueId id : step.optimizer_state) set(id, initial_state(step.graph, id));
}

// The losses of all steps, and the parameters after the last one.
struct Trained {
  Doubles losses;
  std::vector<Doubles> weights;
  bool operator==(const Trained&) const = default;
};

inline Trained train(GraphRun& run, const TrainingStep& step, int steps, double rate = 1e-3) {
  Trained trained;
  for (std::int64_t number = 1; number <= steps; ++number) {
    run.run({.seed = 5, .step = number, .learning_rate = rate});
    trained.losses.push_back(run.get(step.loss)[0]);
  }
  for (const ValueId id : step.parameters) trained.weights.push_back(run.get(id));
  return trained;
}

inline void expect_near(const Trained& found, const Trained& expected, double of_losses, double of_weights) {
  ASSERT_EQ(found.losses.size(), expected.losses.size());
  ASSERT_EQ(found.weights.size(), expected.weights.size());
  for (std::size_t i = 0; i < expected.losses.size(); ++i)
    EXPECT_NEAR(found.losses[i], expected.losses[i], of_losses) << "step " << i + 1;
  for (std::size_t i = 0; i < expected.weights.size(); ++i)
    for (std::size_t k = 0; k < expected.weights[i].size(); ++k)
      ASSERT_NEAR(found.weights[i][k], expected.weights[i][k], of_weights) << "parameter " << i;
}

}  // namespace voxswap::net
