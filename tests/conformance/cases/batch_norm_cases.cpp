// Cases of batch normalisation (net/ops/batch_norm.cpp).
#include "tests/conformance/cases/cases.h"

namespace voxswap::net::cases {

namespace {

OperationCase of_batch(std::string name, Shape shape, Fill fill, const Attributes& attributes) {
  return {std::move(name), {full(std::move(shape), fill)}, attributes, {}};
}

OperationCase update_case(std::string name, std::int64_t samples, std::int64_t channels, double count) {
  return {std::move(name),
          {full({samples, channels, 2}, Fill::statistics)},
          {{"epsilon", 1e-5}, {"momentum", 0.1}, {"count", count}},
          {full({channels}), full({channels}, Fill::positive)}};
}

}  // namespace

Cases statistics_of_batch() {
  const Attributes epsilon = {{"epsilon", 1e-5}};
  return {of_batch("one sample", {1, 16, 2}, Fill::statistics, epsilon),
          of_batch("three samples, odd channels", {3, 5, 2}, Fill::statistics, epsilon),
          of_batch("16 samples", {16, 64, 2}, Fill::statistics, epsilon)};
}

Cases sums_of_batch() {
  return {of_batch("one sample", {1, 16, 2}, Fill::normal, {}),
          of_batch("three samples, odd channels", {3, 5, 2}, Fill::normal, {}),
          of_batch("16 samples", {16, 64, 2}, Fill::normal, {})};
}

Cases running_statistics() {
  return {{"one sample", {full({16}), full({16}, Fill::positive)}, {{"n", 1}, {"epsilon", 1e-5}}, {}},
          {"three samples, odd channels",
           {full({5}), full({5}, Fill::positive)},
           {{"n", 3}, {"epsilon", 1e-3}},
           {}}};
}

Cases running_statistics_update() {
  return {update_case("one sample", 1, 16, 60), update_case("three samples, odd channels", 3, 5, 7),
          update_case("one voxel", 1, 3, 1)};
}

}  // namespace voxswap::net::cases
