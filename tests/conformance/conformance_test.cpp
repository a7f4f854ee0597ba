// Compares every operation on every backend with the reference: all cases (cases/cases.h), in f32, bf16 and
// f16 (agreement.h).
#include <gtest/gtest.h>

#include <cstring>

#include "base/file.h"
#include "net/backends/backends.h"
#include "tests/conformance/agreement.h"
#include "tests/conformance/cases/cases.h"
#include "tests/folder.h"

namespace voxswap::net {
namespace {

std::vector<Check> all_checks() {
  std::vector<Check> checks;
  for (const std::string& name : backend_names()) {
    if (name == "reference") continue;
    Backend* const backend = make_backend(name).release();  // never freed
    for (ElementType type : checked_types) {
      if (!backend->supports(type)) continue;
      for (const Operation* operation : operations()) {
        for (const OperationCase& example : cases_of(operation->name))
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

TEST(Operations, ThoseThatMayOverwriteAnInputHaveACaseInWhichTheyCan) {
  for (const Operation* operation : operations()) {
    const std::vector<OperationCase>& cases = cases_of(operation->name);
    for (const auto& [output, input] : operation->in_place) {
      const std::pair<int, int> pair = {output, input};
      const bool possible = std::any_of(cases.begin(), cases.end(), [&](const OperationCase& example) {
        return may_overwrite(case_graph(*operation, example, ElementType::f32), pair);
      });
      EXPECT_TRUE(possible) << operation->name << " over input " << input;
    }
  }
}

// The file was once checked with NumPy's load(); the format is fixed (NEP 1).
TEST(FailedCases, OnlyTheWorstIsKeptAsFilesOfNumpy) {
  const test::TemporaryFolder own;
  const fs::path folder = own.path() / "worst";
  FailedCases cases(folder);
  for (const auto& [name, excess] : {std::pair{"mild", 2.0}, {"worst", 5.0}, {"middle", 3.0}}) {
    FailedCase failed{name, excess, {}};
    failed.files.emplace_back("input0.npy", npy({2, 3}, {0, 1, 2, 3, 4, excess}));
    cases.keep(failed);
  }
  EXPECT_EQ(read_file(folder / "case.txt"), "worst: 5 times what is allowed\n");
  const std::string bytes = read_file(folder / "input0.npy");
  ASSERT_EQ(bytes.size(), 128 + 6 * sizeof(double)) << "the header ends at a multiple of 64";
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\0", 8));
  EXPECT_EQ(bytes.substr(10, 58), "{'descr': '<f8', 'fortran_order': False, 'shape': (2,3,)} ");
  EXPECT_EQ(bytes[127], '\n');
  double last = 0;
  std::memcpy(&last, bytes.data() + bytes.size() - sizeof last, sizeof last);
  EXPECT_EQ(last, 5);
}

}  // namespace
}  // namespace voxswap::net
