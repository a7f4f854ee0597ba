// Tests the CUDA backend's own kernels, emulated, against the reference: the cases of the operations,
// and shapes with several blocks, several rows per thread, and rows longer than a block. The bits must not
// depend on the order of threads: otherwise a barrier is missing.
#include <gtest/gtest.h>

#include <deque>

#include "net/backends/cuda/kernels.h"
#include "tests/conformance/agreement.h"
#include "tests/conformance/cases/cases.h"
#include "tests/cuda_emulation/emulated_backend.h"
#include "tests/cuda_emulation/emulation.h"

namespace voxswap::net {
namespace {

using emulation::Order;

// Several blocks of several rows; samples that are not a multiple of 16 bytes; a row that no power of two
// divides; a row that is longer than a block.
const std::vector<Shape> volumes = {
    {1, 20, 22, 24, 16}, {2, 9, 11, 13, 7}, {2, 12, 10, 14, 20}, {1, 1, 1, 3, 263}};
const std::vector<Shape> logits = {{1, 20, 22, 24, 3}, {2, 9, 11, 13, 5}, {2, 12, 10, 14, 8}};

OperationCase::Input like(const OperationCase::Input& input, Shape shape) {
  return {std::move(shape), input.fill, input.kind, {}};
}

// The inputs of a case, adapted to a volume of another shape.
OperationCase resized(const OperationCase& example, const Shape& shape) {
  const Shape& old = example.inputs[0].shape;
  OperationCase result{shape.text(), {}, example.attributes, {}};
  for (const OperationCase::Input& input : example.inputs) {
    const Shape& s = input.shape;
    if (s == old) {
      result.inputs.push_back(like(input, shape));
    } else if (s == Shape{1}) {
      result.inputs.push_back(input);
    } else if (s.rank() == 5) {  // half the sides
      result.inputs.push_back(like(input, {shape[0], shape[1] / 2, shape[2] / 2, shape[3] / 2, shape[4]}));
    } else if (s.rank() == 4) {  // a number per voxel
      result.inputs.push_back(like(input, {shape[0], shape[1], shape[2], shape[3]}));
    } else if (s.rank() == 3) {  // several numbers per sample and channel
      result.inputs.push_back(like(input, {shape[0], shape[4], s[2]}));
    } else if (s.rank() == 2) {
      result.inputs.push_back(like(input, {shape[0], shape[4]}));
    } else {
      result.inputs.push_back(like(input, {shape[4]}));
    }
  }
  return result;
}

// Excludes operations that need even sides, or whose attributes depend on the shape of their cases.
bool takes(const Operation& operation, const Shape& shape) {
  const std::string_view name = operation.name;
  const bool odd = shape[1] % 2 != 0 || shape[2] % 2 != 0 || shape[3] % 2 != 0;
  return !odd || !(name.starts_with("max_pool") || name == "upsample_nearest_gradient");
}
bool has_shapes_of_its_own(const Operation& operation) {
  for (const std::string_view name :
       {"concat", "split", "zero_pad", "interleave", "interleave_gradient", "upsampled_weights",
        "upsampled_weights_gradient", "all_finite", "sum_of_squares", "adam", "sgd",
        "sliding_max_pool_gradient", "average_pool_gradient", "resize_linear", "resize_linear_gradient",
        "channels_together", "encode_labels"})
    if (operation.name == name) return true;
  const OperationCase& first = cases_of(operation.name)[0];
  const auto has_values = [](const OperationCase::Input& input) { return !input.values.empty(); };
  return first.inputs.empty() || first.inputs[0].shape.rank() != 5 ||
         std::any_of(first.inputs.begin(), first.inputs.end(), has_values);
}

// The case with the most inputs, and so with all options.
const OperationCase& fullest(const Operation& operation) {
  const std::vector<OperationCase>& cases = cases_of(operation.name);
  return *std::max_element(cases.begin(), cases.end(),
                           [](const auto& a, const auto& b) { return a.inputs.size() < b.inputs.size(); });
}

std::vector<const OperationCase*> all_cases_of(const Operation& operation) {
  static std::deque<OperationCase> made;
  std::vector<const OperationCase*> result;
  for (const OperationCase& example : cases_of(operation.name)) result.push_back(&example);
  if (has_shapes_of_its_own(operation)) return result;
  for (const Shape& shape : operation.name.find("loss") != std::string_view::npos ? logits : volumes) {
    if (takes(operation, shape)) result.push_back(&made.emplace_back(resized(fullest(operation), shape)));
  }
  return result;
}

std::vector<Check> all_checks() {
  static Backend* const backend = make_emulated_cuda_backend().release();
  std::vector<Check> checks;
  for (const Operation* operation : operations()) {
    if (cuda::find_own_maker(operation->name) == nullptr) continue;
    for (const OperationCase* example : all_cases_of(*operation)) {
      for (ElementType type : checked_types) checks.push_back({operation, example, backend, type});
    }
  }
  return checks;
}

void expect_the_same_bits_in_every_order(const Check& check) {
  const CaseGraph example = case_graph(*check.operation, *check.example, check.type);
  std::vector<std::vector<std::byte>> first;
  for (Order order : {Order::forward, Order::backward, Order::shuffled}) {
    emulation::set_order(order);
    Trial trial(*check.backend, example, *check.example);
    trial.graph.run(conformance_context);
    std::vector<std::vector<std::byte>> found;
    for (ValueId id : results(example)) found.push_back(trial.graph.bytes(id));
    if (first.empty()) first = found;
    EXPECT_TRUE(found == first) << "order " << static_cast<int>(order);
  }
  emulation::set_order(Order::forward);
}

class OwnKernels : public testing::TestWithParam<Check> {};

TEST_P(OwnKernels, AgreeWithTheReferenceInEveryOrderOfTheirThreads) {
  expect_conformance(GetParam());
  expect_the_same_bits_in_every_order(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Operation, OwnKernels, testing::ValuesIn(all_checks()),
                         [](const testing::TestParamInfo<Check>& parameter) {
                           return name_of(parameter.param);
                         });

}  // namespace
}  // namespace voxswap::net
