// Convolutions of one tap, which are the library's on a CPU, give the planes of a slab the same bits as those
// of the whole volume, whatever their channels, strides and planes. With AVX2, some routines of oneDNN sum in
// an order that depends on the number of voxels.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/conformance/convolutions.h"

namespace voxswap::net {
namespace {

// The bits of the result for a prefix of `planes` planes of the input.
std::vector<std::byte> of_planes(Backend& backend, const char* operation, Sized size, std::int64_t planes,
                                 ElementType type) {
  size.x[1] = planes;
  const OperationCase example = case_of(operation, size);
  const CaseGraph graph = case_graph(find_operation(operation), example, type);
  Trial trial(backend, graph, example);
  trial.graph.run(conformance_context);
  return trial.graph.bytes(results(graph).front());
}

class OneTap : public testing::TestWithParam<ElementType> {};

TEST_P(OneTap, GivesSlabsTheBitsOfWholeVolumes) {
  const auto backend = make_backend("onednn");
  if (!backend->sums_in_blocks(GetParam())) GTEST_SKIP() << "slabs may change the rounding of sums here";
  for (const std::int64_t inputs : {3, 16, 31, 32})
    for (const std::int64_t outputs : {3, 16, 31, 32})
      for (const std::int64_t stride : {1, 2})
        for (const auto& [height, width] : {std::pair{2, 4}, {3, 5}, {8, 10}})
          for (const char* operation : {"conv3d", "conv3d_data_gradient"}) {
            const Sized size = {{1, 12, height, width, inputs}, outputs, cube(1, stride, 0)};
            const std::vector<std::byte> whole = of_planes(*backend, operation, size, 12, GetParam());
            for (const std::int64_t planes : {2, 4, 8}) {
              const std::vector<std::byte> slab = of_planes(*backend, operation, size, planes, GetParam());
              EXPECT_TRUE(std::equal(slab.begin(), slab.end(), whole.begin()))
                  << operation << " " << inputs << " to " << outputs << " channels, stride " << stride << ", "
                  << planes << " of 12 planes of " << height << " x " << width;
            }
          }
}

INSTANTIATE_TEST_SUITE_P(Of, OneTap, testing::Values(ElementType::f32, ElementType::bf16),
                         [](const testing::TestParamInfo<ElementType>& parameter) {
                           return std::string(element_name(parameter.param));
                         });

}  // namespace
}  // namespace voxswap::net
