// Runs a graph node by node, with every value in separate memory between guard regions: a minimal executor
// for tests, which shares nothing with the real one. Values are set and read as doubles.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/philox.h"
#include "net/backends/backend.h"
#include "net/backends/reference/elements.h"
#include "net/graph/graph.h"
#include "net/graph/operation.h"
#include "tests/conformance/cases/cases.h"

namespace voxswap::net {

// A block of device memory between two guards that must not change. Its initial content is bytes that are NaN
// in every floating point type.
class GuardedBuffer {
 public:
  GuardedBuffer(Backend& backend, Stream& stream, std::int64_t bytes)
      : stream_(&stream), bytes_(bytes), memory_(backend.allocate(bytes + 2 * guard)) {
    const std::vector<std::byte> poison(static_cast<std::size_t>(bytes + 2 * guard), std::byte{0xff});
    stream_->copy(memory_->data(), poison.data(), bytes + 2 * guard);
    stream_->synchronize();
  }
  std::byte* data() { return memory_->data() + guard; }
  void write(const void* from) {
    stream_->copy(data(), from, bytes_);
    stream_->synchronize();
  }
  std::vector<std::byte> read() { return read(guard, bytes_); }
  bool guards_intact() {
    const auto intact = [](const std::vector<std::byte>& bytes) {
      return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0xff}; });
    };
    return intact(read(0, guard)) && intact(read(guard + bytes_, guard));
  }

 private:
  static constexpr std::int64_t guard = 256;  // keeps the alignment that kernels require
  std::vector<std::byte> read(std::int64_t offset, std::int64_t bytes) {
    std::vector<std::byte> result(static_cast<std::size_t>(bytes));
    stream_->copy(result.data(), memory_->data() + offset, bytes);
    stream_->synchronize();
    return result;
  }

  Stream* stream_;
  std::int64_t bytes_;
  std::unique_ptr<Memory> memory_;
};

class GraphRun {
 public:
  GraphRun(const Graph& graph, Backend& backend) : graph_(graph), stream_(backend.make_stream()) {
    for (const Value& value : graph.values()) buffers_.emplace_back(backend, *stream_, value.bytes());
    for (const Node& node : graph.nodes()) {
      Step step;
      step.kernel = backend.compile(graph, node);
      step.workspace = std::make_unique<GuardedBuffer>(backend, *stream_, step.kernel->workspace_bytes());
      for (ValueId id : node.inputs) step.inputs.push_back(place(id));
      for (ValueId id : node.outputs) step.outputs.push_back(place(id));
      for (ValueId id : node.updates) step.updates.push_back(place(id));
      steps_.push_back(std::move(step));
    }
  }

  // Makes the output use the input's memory. REQUIRES: a graph of one node, values of the same size.
  void share(int output, int input) {
    Step& step = steps_[0];
    step.outputs[static_cast<std::size_t>(output)] = step.inputs[static_cast<std::size_t>(input)];
    const Node& node = graph_.nodes()[0];
    shared_ = {node.outputs[static_cast<std::size_t>(output)], node.inputs[static_cast<std::size_t>(input)]};
  }

  void set(ValueId id, const std::vector<double>& values) {  // rounded to the value's type
    const Value& value = graph_.value(id);
    std::vector<std::byte> bytes(static_cast<std::size_t>(value.bytes()));
    store_elements(bytes.data(), values.data(), value.type, value.shape.count());
    buffer(id).write(bytes.data());
  }
  std::vector<double> get(ValueId id) {
    const Value& value = graph_.value(id);
    std::vector<double> values(static_cast<std::size_t>(value.shape.count()));
    load_elements(values.data(), bytes(id).data(), value.type, value.shape.count());
    return values;
  }
  std::vector<std::byte> bytes(ValueId id) {
    return buffer(id == shared_.first ? shared_.second : id).read();
  }

  // Runs the nodes up to and including phase `last`.
  void run(const StepContext& context, Phase last = Phase::update) {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (graph_.nodes()[i].phase > last) continue;
      Step& step = steps_[i];
      stream_->launch(*step.kernel,
                      {step.inputs, step.outputs, step.updates, step.workspace->data(), &context});
    }
    stream_->synchronize();
  }

  // Names of the values and workspaces whose guards were overwritten.
  std::vector<std::string> broken_guards() {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      if (!buffers_[i].guards_intact()) names.push_back(graph_.values()[i].name);
    }
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (!steps_[i].workspace->guards_intact()) names.push_back("workspace of " + graph_.nodes()[i].name);
    }
    return names;
  }

 private:
  struct Step {
    std::unique_ptr<Kernel> kernel;
    std::unique_ptr<GuardedBuffer> workspace;
    std::vector<void*> inputs, outputs, updates;
  };
  GuardedBuffer& buffer(ValueId id) { return buffers_[static_cast<std::size_t>(id)]; }
  void* place(ValueId id) { return buffer(id).data(); }

  const Graph& graph_;
  std::unique_ptr<Stream> stream_;
  std::vector<GuardedBuffer> buffers_;
  std::vector<Step> steps_;
  std::pair<ValueId, ValueId> shared_{none, none};
};

// The graph of a case. `activations` is the type of its activations; "full" means f64 for f64 and f32
// otherwise.
struct CaseGraph {
  Graph graph;
  NodeId node = none;
  std::vector<ValueId> inputs, updates;
};

inline CaseGraph case_graph(const Operation& operation, const OperationCase& example,
                            ElementType activations) {
  using Kind = OperationCase::Input::Kind;
  CaseGraph result;
  const ElementType full = activations == ElementType::f64 ? ElementType::f64 : ElementType::f32;
  const auto add = [&](const OperationCase::Input& input, const char* name, std::size_t i, Role role) {
    ElementType type = activations;
    if (input.kind == Kind::full) type = full;
    if (input.kind == Kind::twice) type = ElementType::f64;
    if (input.kind == Kind::bits) type = ElementType::u8;
    return result.graph.add_value(name + std::to_string(i), input.shape, type, role);
  };
  for (const auto& input : example.inputs) {
    result.inputs.push_back(add(input, "input", result.inputs.size(), Role::input));
  }
  for (const auto& input : example.updates) {
    result.updates.push_back(add(input, "update", result.updates.size(), Role::parameter));
  }
  result.node = result.graph.add(operation.name, std::string(operation.name), result.inputs,
                                 example.attributes, result.updates);
  return result;
}

// Contents of a case's input: a pure function of its fill, its size and `stream`.
inline std::vector<double> fill_values(Fill fill, std::int64_t count, std::uint64_t stream) {
  const Philox random(2017, stream);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    switch (fill) {
      case Fill::normal:
        values[i] = random.normal(i);
        break;
      case Fill::positive:
        values[i] = 0.1 + random.uniform(i);
        break;
      case Fill::statistics:
        values[i] = i % 2 == 0 ? 0.5 * random.normal(i) : 0.5 + random.uniform(i);
        break;
      case Fill::zeros:
        values[i] = 0;
        break;
      case Fill::one_infinite:
        values[i] = i == values.size() / 2 ? std::numeric_limits<double>::infinity() : random.normal(i);
        break;
      case Fill::bits:
        values[i] = random.word(i) & 0xff;
        break;
      case Fill::classes:
        values[i] = random.word(i) % 5;
        break;
      case Fill::taps:
        values[i] = random.word(i) % 9;
        break;
    }
  }
  return values;
}

inline std::vector<double> contents(const OperationCase::Input& input, std::uint64_t stream) {
  return input.values.empty() ? fill_values(input.fill, input.shape.count(), stream) : input.values;
}

}  // namespace voxswap::net
