// Compares convolutions and their gradients with the reference for many geometries: kernels, strides, padding
// and dilation that differ between axes, and all kinds of sides and channels. Libraries have separate
// routines for them, and some routines were wrong for only a few geometries.
#include <gtest/gtest.h>

#include "base/philox.h"
#include "tests/conformance/convolutions.h"

namespace voxswap::net {
namespace {

// Every second one is for images: one plane.
Sized drawn(std::uint64_t number) {
  const Philox random(2026, number);
  std::uint64_t draws = 0;
  const auto one_of = [&](const std::vector<std::int64_t>& choices) {
    return choices[random.word(draws++) % choices.size()];
  };
  Sized g;
  const bool image = number % 2 == 0;
  const std::int64_t kernel = one_of({1, 2, 3, 3, 3, image ? 7 : 3}),
                     dilation = kernel == 3 ? one_of({1, 1, 2, 3, 6}) : 1;
  for (std::size_t i = image ? 1 : 0; i < 3; ++i) {
    KernelAxis& axis = g.axes[i];
    axis.kernel = image || one_of({0, 0, 1}) == 0 ? kernel : 1;
    axis.stride = one_of({1, 1, 2});
    axis.dilation = axis.kernel == 1 ? 1 : image ? dilation : std::min<std::int64_t>(dilation, 2);
    axis.before = axis.behind = one_of({axis.reach() / 2, axis.reach() / 2, 0});
  }
  g.x = {one_of({1, 1, 2}), 1, 1, 1, one_of({1, 3, 4, 5, 16, 17, 32})};
  for (int i = 0; i < 3; ++i) {
    const KernelAxis& axis = g.axes[static_cast<std::size_t>(i)];
    const std::int64_t least = std::max<std::int64_t>(1, axis.reach() - axis.before - axis.behind);
    g.x[i + 1] = i == 0 && image ? 1 : least + one_of({0, 1, 2, 3, 5, 8});
  }
  g.outputs = one_of({1, 3, 5, 8, 16, 20, 32});
  return g;
}

class Geometries : public testing::TestWithParam<std::string> {};

TEST_P(Geometries, OfAllKindsGiveTheConvolutionsOfTheReference) {
  const auto backend = make_backend(GetParam());
  for (std::uint64_t number = 150; number < 190; ++number) {
    const Sized g = drawn(number);
    for (const char* name : {"conv3d", "conv3d_sum", "conv3d_data_gradient", "conv3d_weight_gradient"}) {
      const OperationCase example = case_of(name, g, /*bias=*/true);
      for (const ElementType type : checked_types) {
        if (!backend->supports(type)) continue;
        const Check check = {&find_operation(name), &example, backend.get(), type};
        const CaseGraph graph = case_graph(*check.operation, example, type);
        SCOPED_TRACE(format("geometry {} {}: {}", number, element_name(type), graph.graph.text()));
        expect_agreement(check, graph);
      }
    }
  }
}

std::vector<std::string> tested_backends() {
  std::vector<std::string> names = backend_names();
  std::erase(names, "reference");
  return names;
}
INSTANTIATE_TEST_SUITE_P(Every, Geometries, testing::ValuesIn(tested_backends()),
                         [](const testing::TestParamInfo<std::string>& parameter) {
                           return parameter.param;
                         });

}  // namespace
}  // namespace voxswap::net
