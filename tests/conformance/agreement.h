// Compares a backend's kernel with the reference for one case of an operation, on the same inputs. Outputs
// must agree up to a tolerance relative to the tensor's scale (f32 1e-4, bf16 2e-2, f16 4e-3; labels: 0),
// repeat bit for bit, and be the same when written over an input if the operation allows that. Nothing may be
// written outside them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "net/backends/backends.h"
#include "tests/conformance/failed_case.h"
#include "tests/net/run_graph.h"

namespace voxswap::net {

struct Check {
  const Operation* operation;
  const OperationCase* example;
  Backend* backend;
  ElementType type;
};

constexpr ElementType checked_types[] = {ElementType::f32, ElementType::bf16, ElementType::f16};

inline std::string identifier(std::string text) {  // a valid gtest name
  for (char& c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return text;
}

inline std::string name_of(const Check& check) {
  return identifier(format("{}__{}__{}_{}", check.operation->name, check.example->name, check.backend->name(),
                           element_name(check.type)));
}

inline void PrintTo(const Check& check, std::ostream* out) {
  *out << name_of(check);
}

// A backend with the inputs of a case set.
struct Trial {
  GraphRun graph;

  Trial(Backend& backend, const CaseGraph& example, const OperationCase& spec)
      : graph(example.graph, backend) {
    fill(example, spec);
  }
  void fill(const CaseGraph& example, const OperationCase& spec) {
    for (std::size_t i = 0; i < example.inputs.size(); ++i) {
      graph.set(example.inputs[i], contents(spec.inputs[i], i));
    }
    for (std::size_t i = 0; i < example.updates.size(); ++i) {
      graph.set(example.updates[i],
                fill_values(spec.updates[i].fill, spec.updates[i].shape.count(), 100 + i));
    }
  }
};

constexpr StepContext conformance_context{.seed = 7, .step = 3, .learning_rate = 1e-2};

inline std::vector<ValueId> results(const CaseGraph& example) {
  std::vector<ValueId> ids = example.graph.node(example.node).outputs;
  ids.insert(ids.end(), example.updates.begin(), example.updates.end());
  return ids;
}

// Checks that the largest difference, in units of the largest expected magnitude, is within the tolerance.
// Returns it.
inline double expect_close(const std::vector<double>& found, const std::vector<double>& expected,
                           double tolerance, const std::string& what) {
  double scale = 0;
  for (double x : expected) scale = std::max(scale, std::abs(x));
  std::size_t wrong = 0, worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double error = std::abs(found[i] - expected[i]);
    if (!(error <= tolerance * scale)) ++wrong;
    if (!(error <= std::abs(found[worst] - expected[worst]))) worst = i;
  }
  EXPECT_EQ(wrong, 0u) << what << ": of " << expected.size() << " elements; the worst is element " << worst
                       << " with " << found[worst] << " instead of " << expected[worst] << ", scale "
                       << scale;
  if (expected.empty()) return 0;
  const double largest = std::abs(found[worst] - expected[worst]);
  return std::isnan(largest) ? std::numeric_limits<double>::infinity() : largest / std::max(scale, 1e-300);
}

inline double tolerance_of(ElementType type) {
  if (type == ElementType::bf16) return 2e-2;
  return type == ElementType::f16 ? 4e-3 : 1e-4;
}

inline void expect_agreement(const Check& check, const CaseGraph& example, double tolerance) {
  const std::unique_ptr<Backend> plain = make_reference_backend();
  Trial reference(*plain, example, *check.example);
  Trial tested(*check.backend, example, *check.example);
  reference.graph.run(conformance_context);
  tested.graph.run(conformance_context);
  double worst = 0;
  for (ValueId id : results(example)) {
    const Value& value = example.graph.value(id);
    worst = std::max(worst, expect_close(tested.graph.get(id), reference.graph.get(id),
                                         value.type == ElementType::u8 ? 0 : tolerance, value.name));
  }
  if (!testing::Test::HasFailure()) return;
  FailedCase failed{name_of(check), worst / tolerance, {}};
  for (std::size_t i = 0; i < example.inputs.size(); ++i)
    failed.add(format("input{}", i), example, example.inputs[i], reference.graph.get(example.inputs[i]));
  for (std::size_t i = 0; i < example.updates.size(); ++i)
    failed.add(format("update{}_before", i), example, example.updates[i],
               fill_values(check.example->updates[i].fill, check.example->updates[i].shape.count(), 100 + i));
  for (ValueId id : results(example)) {
    const std::string& name = example.graph.value(id).name;
    failed.add(identifier(name) + "_found", example, id, tested.graph.get(id));
    failed.add(identifier(name) + "_expected", example, id, reference.graph.get(id));
  }
  failed_cases().keep(failed);
}

inline void expect_agreement(const Check& check, const CaseGraph& example) {
  expect_agreement(check, example, tolerance_of(check.type));
}

inline void expect_only_outputs_are_written(const Check& check, const CaseGraph& example) {
  Trial tested(*check.backend, example, *check.example);
  std::vector<std::vector<std::byte>> before;
  for (ValueId id : example.inputs) before.push_back(tested.graph.bytes(id));
  tested.graph.run(conformance_context);
  EXPECT_EQ(tested.graph.broken_guards(), std::vector<std::string>{});
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_TRUE(tested.graph.bytes(example.inputs[i]) == before[i]) << "input " << i << " was changed";
  }
}

inline void expect_the_same_bits_every_time(const Check& check, const CaseGraph& example) {
  Trial first(*check.backend, example, *check.example), second(*check.backend, example, *check.example);
  first.graph.run(conformance_context);
  second.graph.run(conformance_context);
  second.fill(example, *check.example);
  second.graph.run(conformance_context);  // repeated, with outputs and workspace that are no longer fresh
  for (ValueId id : results(example)) {
    EXPECT_TRUE(first.graph.bytes(id) == second.graph.bytes(id)) << example.graph.value(id).name;
  }
}

inline bool may_overwrite(const CaseGraph& example, std::pair<int, int> output_and_input) {
  const Node& node = example.graph.node(example.node);
  const auto output = static_cast<std::size_t>(output_and_input.first);
  const auto input = static_cast<std::size_t>(output_and_input.second);
  return input < node.inputs.size() &&
         example.graph.value(node.outputs[output]).bytes() == example.graph.value(node.inputs[input]).bytes();
}

inline void expect_the_same_bits_in_place(const Check& check, const CaseGraph& example) {
  Trial apart(*check.backend, example, *check.example);
  apart.graph.run(conformance_context);
  for (const auto& pair : check.operation->in_place) {
    if (!may_overwrite(example, pair)) continue;
    Trial together(*check.backend, example, *check.example);
    together.graph.share(pair.first, pair.second);
    together.graph.run(conformance_context);
    const ValueId output = example.graph.node(example.node).outputs[static_cast<std::size_t>(pair.first)];
    EXPECT_TRUE(together.graph.bytes(output) == apart.graph.bytes(output)) << "over input " << pair.second;
    EXPECT_EQ(together.graph.broken_guards(), std::vector<std::string>{});
  }
}

inline void expect_conformance(const Check& check) {
  const CaseGraph example = case_graph(*check.operation, *check.example, check.type);
  expect_agreement(check, example);
  expect_only_outputs_are_written(check, example);
  expect_the_same_bits_every_time(check, example);
  expect_the_same_bits_in_place(check, example);
}

}  // namespace voxswap::net
