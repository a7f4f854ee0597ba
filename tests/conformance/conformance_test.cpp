// Every operation on every backend against the reference: the same inputs, every case of the table, f32 and
// bf16. Outputs agree to a tolerance relative to the tensor's scale (f32 1e-4, bf16 2e-2), repeat bit for
// bit, are the same when written over an input where the operation allows it, and nothing is written beside
// them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "base/text.h"
#include "net/backends/reference/kernels.h"
#include "tests/net/run_graph.h"

namespace voxswap {
namespace {

struct Check {
  const Operation* operation;
  const OperationCase* example;
  std::string backend;
  ElementType type;
};

std::string identifier(std::string text) {  // what gtest takes for a name
  for (char& c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return text;
}

std::string name_of(const Check& check) {
  return identifier(format("{}__{}__{}_{}", check.operation->name, check.example->name, check.backend,
                           element_name(check.type)));
}

void PrintTo(const Check& check, std::ostream* out) {
  *out << name_of(check);
}

std::vector<Check> all_checks() {
  std::vector<Check> checks;
  for (const std::string& backend : backend_names()) {
    if (backend == "reference") continue;
    const auto device = make_backend(backend);
    for (ElementType type : {ElementType::f32, ElementType::bf16}) {
      if (!device->supports(type)) continue;
      for (const Operation* operation : operations()) {
        for (const OperationCase& example : operation->cases)
          checks.push_back({operation, &example, backend, type});
      }
    }
  }
  return checks;
}

// One backend with the inputs of a case in place.
struct Trial {
  std::unique_ptr<Backend> backend;
  GraphRun graph;

  Trial(const std::string& name, const CaseGraph& example, const OperationCase& spec)
      : backend(make_backend(name)), graph(example.graph, *backend) {
    fill(example, spec);
  }
  void fill(const CaseGraph& example, const OperationCase& spec) {
    for (std::size_t i = 0; i < example.inputs.size(); ++i) {
      graph.set(example.inputs[i], fill_values(spec.inputs[i].fill, spec.inputs[i].shape.count(), i));
    }
    for (std::size_t i = 0; i < example.updates.size(); ++i) {
      graph.set(example.updates[i],
                fill_values(spec.updates[i].fill, spec.updates[i].shape.count(), 100 + i));
    }
  }
};

const StepContext context{.seed = 7, .step = 3, .learning_rate = 1e-2};

std::vector<ValueId> results(const CaseGraph& example) {
  std::vector<ValueId> ids = example.graph.node(example.node).outputs;
  ids.insert(ids.end(), example.updates.begin(), example.updates.end());
  return ids;
}

// The largest difference in units of the largest expected magnitude.
void expect_close(const std::vector<double>& found, const std::vector<double>& expected, double tolerance,
                  const std::string& what) {
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
}

void expect_agreement(const Check& check, const CaseGraph& example) {
  Trial reference("reference", example, *check.example), tested(check.backend, example, *check.example);
  reference.graph.run(context);
  tested.graph.run(context);
  const double tolerance = check.type == ElementType::bf16 ? 2e-2 : 1e-4;
  for (ValueId id : results(example)) {
    expect_close(tested.graph.get(id), reference.graph.get(id), tolerance, example.graph.value(id).name);
  }
}

void expect_only_outputs_are_written(const Check& check, const CaseGraph& example) {
  Trial tested(check.backend, example, *check.example);
  std::vector<std::vector<std::byte>> before;
  for (ValueId id : example.inputs) before.push_back(tested.graph.bytes(id));
  tested.graph.run(context);
  EXPECT_EQ(tested.graph.broken_guards(), std::vector<std::string>{});
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_TRUE(tested.graph.bytes(example.inputs[i]) == before[i]) << "input " << i << " was changed";
  }
}

void expect_the_same_bits_every_time(const Check& check, const CaseGraph& example) {
  Trial first(check.backend, example, *check.example), second(check.backend, example, *check.example);
  first.graph.run(context);
  second.graph.run(context);
  second.fill(example, *check.example);
  second.graph.run(context);  // once more where outputs and workspace are no longer fresh
  for (ValueId id : results(example)) {
    EXPECT_TRUE(first.graph.bytes(id) == second.graph.bytes(id)) << example.graph.value(id).name;
  }
}

bool may_overwrite(const CaseGraph& example, std::pair<int, int> output_and_input) {
  const Node& node = example.graph.node(example.node);
  const auto output = static_cast<std::size_t>(output_and_input.first);
  const auto input = static_cast<std::size_t>(output_and_input.second);
  return input < node.inputs.size() &&
         example.graph.value(node.outputs[output]).bytes() == example.graph.value(node.inputs[input]).bytes();
}

void expect_the_same_bits_in_place(const Check& check, const CaseGraph& example) {
  Trial apart(check.backend, example, *check.example);
  apart.graph.run(context);
  for (const auto& pair : check.operation->in_place) {
    if (!may_overwrite(example, pair)) continue;
    Trial together(check.backend, example, *check.example);
    together.graph.share(pair.first, pair.second);
    together.graph.run(context);
    const ValueId output = example.graph.node(example.node).outputs[static_cast<std::size_t>(pair.first)];
    EXPECT_TRUE(together.graph.bytes(output) == apart.graph.bytes(output)) << "over input " << pair.second;
    EXPECT_EQ(together.graph.broken_guards(), std::vector<std::string>{});
  }
}

class Conformance : public testing::TestWithParam<Check> {};

TEST_P(Conformance, AgreesWithTheReferenceAndKeepsItsPlace) {
  const Check& check = GetParam();
  const CaseGraph example = case_graph(*check.operation, *check.example, check.type);
  expect_agreement(check, example);
  expect_only_outputs_are_written(check, example);
  expect_the_same_bits_every_time(check, example);
  expect_the_same_bits_in_place(check, example);
}

INSTANTIATE_TEST_SUITE_P(Operation, Conformance, testing::ValuesIn(all_checks()),
                         [](const testing::TestParamInfo<Check>& parameter) {
                           return name_of(parameter.param);
                         });

TEST(Operations, EachHasACase) {
  for (const Operation* operation : operations()) EXPECT_FALSE(operation->cases.empty()) << operation->name;
}

TEST(Operations, EachHasAReferenceKernel) {
  for (const Operation* operation : operations()) {
    EXPECT_NE(reference::find_routine(operation->name), nullptr) << operation->name;
  }
}

TEST(Operations, CasesOfOneOperationHaveDifferentNames) {
  for (const Operation* operation : operations()) {
    std::set<std::string> names;
    for (const OperationCase& example : operation->cases) {
      EXPECT_TRUE(names.insert(identifier(example.name)).second) << operation->name << " " << example.name;
    }
  }
}

TEST(Operations, ThoseThatMayOverwriteAnInputHaveACaseInWhichTheyCan) {
  for (const Operation* operation : operations()) {
    for (const auto& [output, input] : operation->in_place) {
      const std::pair<int, int> pair = {output, input};
      const bool possible =
          std::any_of(operation->cases.begin(), operation->cases.end(), [&](const OperationCase& example) {
            return may_overwrite(case_graph(*operation, example, ElementType::f32), pair);
          });
      EXPECT_TRUE(possible) << operation->name << " over input " << input;
    }
  }
}

}  // namespace
}  // namespace voxswap
