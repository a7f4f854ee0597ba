// Small and random graphs for the tests of swap/, and execution of a step without a plan.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/philox.h"
#include "net/backends/backend.h"
#include "net/graph/graph.h"
#include "net/steps/step.h"
#include "swap/model/costs.h"
#include "swap/planners/planner.h"

namespace voxswap::test {

struct SmallStep {
  net::Graph graph;
  std::vector<net::ValueId> inputs, kept;
};

// Three nodes, and persistent values that none of them reads: small enough to compute all offsets by hand.
// Volumes have 128 bytes in f32, 8 times as many upsampled.
struct Small {
  net::Graph graph;
  net::ValueId p = graph.add_value("p", {5}, net::ElementType::f32, net::Role::parameter);
  net::ValueId x = graph.add_value("x", Shape{1, 2, 2, 2, 4}, net::ElementType::f32, net::Role::input);
  net::ValueId q = graph.add_value("q", {33}, net::ElementType::f32, net::Role::optimizer_state);
  net::ValueId a = graph.apply("upsample_nearest", "a", {x});
  net::ValueId b = graph.apply("leaky_relu", "b", {a}, {{"slope", 0.5}});
  net::ValueId c = graph.apply("upsample_nearest_gradient", "c", {b});
  swap::StepProblem request{&graph, {0, 0, 100}, {}, {c}};
};

// A random training step: volumes are added, convolved, squashed and copied, parameters are updated from the
// results and possibly read afterwards. Volumes have 4 channels.
inline SmallStep random_step(std::uint64_t seed, int nodes, const Shape& volume = {1, 2, 2, 2, 4}) {
  const Philox random(seed, 1);
  std::uint64_t draw = 0;
  const auto below = [&](std::size_t n) { return random.word(draw++) % n; };
  SmallStep step;
  net::Graph& graph = step.graph;
  struct Parameter {
    net::ValueId weight, bias, m, v;
  };
  std::vector<Parameter> parameters;
  for (int i = 0; i < 2; ++i) {
    const std::string name = "p" + std::to_string(i);
    const auto add = [&](const char* suffix, const Shape& shape, net::Role role) {
      return graph.add_value(name + suffix, shape, net::ElementType::f32, role);
    };
    parameters.push_back({add(".weight", {4, 4, 1, 1, 1}, net::Role::parameter),
                          add(".bias", {4}, net::Role::parameter), add(".m", {4}, net::Role::optimizer_state),
                          add(".v", {4}, net::Role::optimizer_state)});
  }
  std::vector<net::ValueId> volumes;
  for (const char* name : {"first", "second"}) {
    volumes.push_back(graph.add_value(name, volume, net::ElementType::f32, net::Role::input));
    step.inputs.push_back(volumes.back());
  }
  for (int i = 0; i < nodes; ++i) {
    const std::string name = "n" + std::to_string(i);
    const net::ValueId x = volumes[volumes.size() - 1 - below(std::min<std::size_t>(volumes.size(), 6))];
    const Parameter& p = parameters[below(parameters.size())];
    switch (below(6)) {
      case 0:
        volumes.push_back(graph.apply("add", name, {x, volumes[below(volumes.size())]}));
        break;
      case 1:
        volumes.push_back(graph.apply("leaky_relu", name, {x}, {{"slope", 0.5}}));
        break;
      case 2:
        volumes.push_back(graph.apply("sigmoid", name, {x}));
        break;
      case 3:
        volumes.push_back(
            graph.apply("conv3d", name, {x, p.weight, p.bias}, {{"stride", 1}, {"padding", 0}}));
        break;
      case 4: {
        const net::ValueId wide =
            graph.apply("concat", name, {x, volumes[below(volumes.size())]}, {{"axis", 4}});
        const net::NodeId split = graph.add("split", name + ".split", {wide}, {{"axis", 4}, {"count", 4}});
        volumes.push_back(graph.apply("cast", name + ".copy", {graph.node(split).outputs[1]},
                                      {{"type", static_cast<double>(net::ElementType::f32)}}));
        break;
      }
      case 5: {
        const net::ValueId sum = graph.apply("channel_sum", name, {x});
        graph.add("adam", name + ".update", {sum},
                  {{"beta1", 0.9}, {"beta2", 0.999}, {"epsilon", 1e-7}, {"weight_decay", 0}},
                  {p.bias, p.m, p.v});
        break;
      }
    }
  }
  step.kept = {volumes.back()};
  return step;
}

// The step of a small network, with volumes of 32^3 voxels in slabs of so many planes.
inline net::TrainingStep step_in_slabs(std::int64_t planes) {
  net::StepOptions options;
  options.network = {.base_filters = 4, .depth = 3};
  options.input = {1, 32, 32, 32, 4};
  options.slabs = planes;
  return net::build_training_step(options);
}

// The step of a small network, with volumes of 16^3 voxels, whole or in slabs of so many planes.
inline net::TrainingStep step_of_side_16(std::int64_t planes = net::whole_volumes) {
  net::StepOptions options;
  options.input = {1, 16, 16, 16, 4};
  options.slabs = planes;
  if (planes != net::whole_volumes) options.network.depth = 3;
  return net::build_training_step(options);
}

// A training step, and what planners need to know of it.
struct StepToPlan {
  net::TrainingStep step;
  swap::CostModel costs;
  swap::StepProblem problem;

  explicit StepToPlan(net::TrainingStep of, const std::string& device = "cpu", std::int64_t workspace = 0)
      : step(std::move(of)),
        costs(swap::estimate_costs(step.graph, swap::find_device_rates(device))),
        problem{&step.graph,
                std::vector<std::int64_t>(step.graph.nodes().size(), workspace),
                {},
                {step.loss},
                &costs} {}
  explicit StepToPlan(const net::StepOptions& options) : StepToPlan(net::build_training_step(options)) {}
  StepToPlan(const StepToPlan&) = delete;
  StepToPlan& operator=(const StepToPlan&) = delete;

  swap::Plan keep() const { return swap::make_plan("keep", problem); }
  swap::Floor least() const { return swap::least_budget(step.graph, problem.workspaces, problem.kept); }
};

// A chain of copies and some sigmoids forwards, then backwards past the same values: the shape of a training
// step.
inline SmallStep hourglass(std::uint64_t seed, int depth) {
  const Philox random(seed, 4);
  SmallStep step;
  std::vector<net::ValueId> chain = {
      step.graph.add_value("x", {1, 2, 2, 2, 4}, net::ElementType::f32, net::Role::input)};
  for (int i = 0; i < depth; ++i) {
    const std::string name = "forward" + std::to_string(i);
    if (random.word(static_cast<std::uint64_t>(i)) % 3 == 0)
      chain.push_back(step.graph.apply("sigmoid", name, {chain.back()}));
    else
      chain.push_back(step.graph.apply("cast", name, {chain.back()},
                                       {{"type", static_cast<double>(net::ElementType::f32)}}));
  }
  net::ValueId gradient = chain.back();
  for (int i = depth - 1; i >= 0; --i)
    gradient = step.graph.apply("sigmoid_gradient", "backward" + std::to_string(i),
                                {chain[static_cast<std::size_t>(i)], gradient});
  step.kept = {gradient};
  return step;
}

// The plan, or nullopt if the planner has none that fits.
inline std::optional<swap::Plan> plan_that_fits(const std::string& planner, const swap::StepProblem& problem,
                                                bool quick = false) {
  try {
    return swap::make_plan(planner, problem, quick);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::does_not_fit) << planner << ": " << error.what();
    return std::nullopt;
  }
}

// Runs nodes in the graph's order, with a separate buffer per value: the expected result of every plan.
class NaiveRunner {
 public:
  NaiveRunner(net::Backend& backend, const net::Graph& graph)
      : graph_(graph), stream_(backend.make_stream()) {
    for (const net::Value& value : graph.values())
      buffers_.push_back(backend.allocate(std::max<std::int64_t>(value.bytes(), 64)));
    for (const net::Node& node : graph.nodes()) {
      kernels_.push_back(backend.compile(graph, node));
      workspaces_.push_back(backend.allocate(std::max<std::int64_t>(kernels_.back()->workspace_bytes(), 64)));
    }
  }
  void write(net::ValueId value, const void* bytes, std::int64_t size) {
    stream_->copy(data(value), bytes, size);
    stream_->synchronize();
  }
  void read(net::ValueId value, void* bytes, std::int64_t size) {
    stream_->copy(bytes, data(value), size);
    stream_->synchronize();
  }
  void run(const net::StepContext& context) {
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      const net::Node& node = graph_.nodes()[i];
      const auto inputs = addresses(node.inputs), outputs = addresses(node.outputs),
                 updates = addresses(node.updates);
      stream_->launch(*kernels_[i], {inputs, outputs, updates, workspaces_[i]->data(), &context});
      stream_->synchronize();
    }
  }

 private:
  std::byte* data(net::ValueId value) { return buffers_[static_cast<std::size_t>(value)]->data(); }
  std::vector<void*> addresses(const std::vector<net::ValueId>& values) {
    std::vector<void*> result;
    for (const net::ValueId value : values) result.push_back(data(value));
    return result;
  }

  const net::Graph& graph_;
  std::unique_ptr<net::Stream> stream_;
  std::vector<std::unique_ptr<net::Memory>> buffers_, workspaces_;
  std::vector<std::unique_ptr<net::Kernel>> kernels_;
};

// Content of a value: normal f32 numbers (small for parameters, zero for second moments), random bits for u8,
// 0, 1, 2, … for f64 (tables of labels). Depends on (value, seed) only.
inline std::vector<std::byte> content(const net::Graph& graph, net::ValueId id, std::uint64_t seed) {
  const net::Value& value = graph.value(id);
  std::vector<std::byte> bytes(static_cast<std::size_t>(value.bytes()));
  if (value.role == net::Role::optimizer_state) return bytes;
  const Philox random(seed, static_cast<std::uint64_t>(id));
  for (std::int64_t i = 0; i < value.shape.count(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (value.type == net::ElementType::u8) {
      bytes[at] = static_cast<std::byte>(random.word(at) & 1);
    } else if (value.type == net::ElementType::f64) {
      const auto number = static_cast<double>(i);
      std::memcpy(bytes.data() + 8 * at, &number, 8);
    } else {
      const auto number = static_cast<float>(random.normal(at) * (value.persistent() ? 0.2 : 1.0));
      std::memcpy(bytes.data() + 4 * at, &number, 4);
    }
  }
  return bytes;
}

// Runs `steps` steps with new inputs each; returns kept values after every step, then persistent values.
template <class Runner>
std::vector<std::vector<std::byte>> train(Runner& runner, const net::Graph& graph,
                                          const std::vector<net::ValueId>& inputs,
                                          const std::vector<net::ValueId>& kept, int steps) {
  std::vector<std::vector<std::byte>> results;
  const auto read = [&](net::ValueId id) {
    results.emplace_back(static_cast<std::size_t>(graph.value(id).bytes()));
    runner.read(id, results.back().data(), graph.value(id).bytes());
  };
  const auto write = [&](net::ValueId id, std::uint64_t seed) {
    const std::vector<std::byte> bytes = content(graph, id, seed);
    runner.write(id, bytes.data(), static_cast<std::int64_t>(bytes.size()));
  };
  const auto persistent = [&](auto&& action) {
    for (std::size_t id = 0; id < graph.values().size(); ++id)
      if (graph.values()[id].persistent()) action(static_cast<net::ValueId>(id));
  };
  persistent([&](net::ValueId id) { write(id, 7); });
  for (int step = 1; step <= steps; ++step) {
    for (const net::ValueId id : inputs) write(id, static_cast<std::uint64_t>(100 + step));
    runner.run({5, step, 1e-2});
    for (const net::ValueId id : kept) read(id);
  }
  persistent(read);
  return results;
}

// Number of nodes that overwrite in place a value that is swapped in later.
inline int written_over_while_away(const swap::Plan& plan) {
  int count = 0;
  for (const swap::Residency& old : plan.residencies)
    for (const swap::Residency& successor : plan.residencies) {
      if (old.value == net::none || successor.value == net::none || old.value == successor.value) continue;
      if (successor.first != old.last || successor.offset != old.offset) continue;
      for (const swap::Residency& later : plan.residencies)
        count += later.value == old.value && later.first > old.last;
    }
  return count;
}

}  // namespace voxswap::test
