// Every operation on every backend against the reference: every case of the table, f32, bf16 and f16
// (agreement.h).
#include <gtest/gtest.h>

#include <set>

#include "net/backends/reference/kernels.h"
#include "tests/conformance/agreement.h"

namespace voxswap {
namespace {

std::vector<Check> all_checks() {
  std::vector<Check> checks;
  for (const std::string& name : backend_names()) {
    if (name == "reference") continue;
    Backend* const backend = make_backend(name).release();  // lives as long as the program
    for (ElementType type : checked_types) {
      if (!backend->supports(type)) continue;
      for (const Operation* operation : operations()) {
        for (const OperationCase& example : operation->cases)
          checks.push_back({operation, &example, backend, type});
      }
    }
  }
  return checks;
}

class Conformance : public testing::TestWithParam<Check> {};

TEST_P(Conformance, AgreesWithTheReferenceAndKeepsItsPlace) {
  expect_conformance(GetParam());
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
