// Cases of sums of channels and sums over planes (net/ops/plane_sums.cpp).
#include "tests/conformance/cases/cases.h"

namespace voxswap::net::cases {

namespace {

Input planes(Shape shape, Fill fill = Fill::normal) {
  return {std::move(shape), fill, Input::Kind::twice, {}};
}

OperationCase example(std::string name, Shape shape) {
  return {std::move(name), {activation(std::move(shape))}, {}, {}};
}

}  // namespace

Cases channel_plane_sums() {
  return channel_sum();
}

Cases mean_of_planes() {
  return {{"one plane", {planes({1, 1, 3, 1})}, {{"voxels", 7}}, {}},
          {"two slabs, batch of two", {planes({2, 5, 16, 1}), planes({2, 3, 16, 1})}, {{"voxels", 240}}, {}}};
}

Cases add_planes() {
  return {{"one slab, one kind", {planes({2, 5, 3, 1})}, {}, {}},
          {"three slabs, the last is shorter",
           {planes({1, 4, 16, 2}), planes({1, 4, 16, 2}), planes({1, 1, 16, 2})},
           {},
           {}},
          {"two slabs, four kinds, batch of two", {planes({2, 3, 8, 4}), planes({2, 2, 8, 4})}, {}, {}},
          {"two slabs, in double",
           {planes({1, 3, 3, 3}), planes({1, 2, 3, 3})},
           {{"type", static_cast<double>(ElementType::f64)}},
           {}}};
}

Cases statistics_of_planes() {
  return {{"one plane", {planes({1, 1, 3, 2}, Fill::positive)}, {{"epsilon", 1e-5}, {"plane_voxels", 7}}, {}},
          {"two slabs, batch of two",
           {planes({2, 5, 16, 2}, Fill::positive), planes({2, 3, 16, 2}, Fill::positive)},
           {{"epsilon", 1e-5}, {"plane_voxels", 30}},
           {}}};
}

Cases total() {
  return {{"one", {full({1, 5})}, {}, {}},
          {"two weights", {full({1, 16, 4, 3, 3, 3}), full({1, 16, 4, 3, 3, 3})}, {}, {}},
          {"of several blocks",
           {full({3, 16, 4, 3, 3, 3}), full({3, 16, 4, 3, 3, 3}), full({1, 16, 4, 3, 3, 3})},
           {},
           {}},
          {"five of odd size",
           {full({1, 33}), full({2, 33}), full({2, 33}), full({2, 33}), full({1, 33})},
           {},
           {}},
          {"nodes of a rank's blocks", {full({3, 33}), full({3, 33})}, {{"first", 6}, {"apart", 1}}, {}},
          {"nodes of three ranks",
           {full({2, 33}), full({2, 33}), full({1, 33})},
           {{"nodes", 1}, {"each", 6}, {"end", 13}},
           {}}};
}

Cases channel_sum() {
  return {example("odd channels, batch of two", {2, 3, 5, 7, 3}), example("16 channels", {1, 9, 7, 11, 16}),
          example("20 channels", {1, 4, 5, 6, 20}), example("one voxel", {1, 1, 1, 1, 32})};
}

}  // namespace voxswap::net::cases
