// Passes over large volumes, which bypass the caches (net/backends/onednn/passes.h), give the same results as
// over small ones.
#include <gtest/gtest.h>

#include "net/backends/backends.h"
#include "tests/net/run_graph.h"

namespace voxswap::net {
namespace {

using Doubles = std::vector<double>;

constexpr std::int64_t large = std::int64_t{8} << 20;  // bytes, from which passes bypass the caches

Doubles numbers(const Shape& shape, std::uint64_t stream) {
  return fill_values(Fill::normal, shape.count(), stream);
}

// Planes from <= z < to of a volume with `depth` planes.
Doubles planes(const Doubles& volume, std::int64_t depth, std::int64_t from, std::int64_t to) {
  const auto plane = static_cast<std::ptrdiff_t>(volume.size()) / depth;
  return {volume.begin() + from * plane, volume.begin() + to * plane};
}

Doubles norm_and_residual(const Shape& shape, const Doubles& x, const Doubles& residual) {
  const auto backend = make_backend("onednn");
  const Shape shapes[] = {shape, {1, shape[4], 2}, {shape[4]}, {shape[4]}, shape};
  Graph graph;
  std::vector<ValueId> inputs;
  for (const Shape& of_input : shapes)
    inputs.push_back(graph.add_value("input", of_input, ElementType::f32, Role::input));
  const ValueId y = graph.apply("norm_activation", "y", inputs, {{"slope", 0.3}, {"has_residual", 1}});
  GraphRun run(graph, *backend);
  run.set(inputs[0], x);
  run.set(inputs[1], fill_values(Fill::statistics, shapes[1].count(), 1));
  run.set(inputs[2], numbers(shapes[2], 2));
  run.set(inputs[3], numbers(shapes[3], 3));
  run.set(inputs[4], residual);
  run.run({});
  EXPECT_TRUE(run.broken_guards().empty());
  return run.get(y);
}

TEST(StreamedPasses, NormALargeVolumeAsItsParts) {
  for (const std::int64_t channels : {5, 16, 20, 32}) {
    const Shape whole = {1, 2 * (large / (59 * 61 * 4 * channels) / 2 + 1), 59, 61, channels};
    const Shape half = {1, whole[1] / 2, whole[2], whole[3], channels};
    ASSERT_GE(4 * whole.count(), large);
    ASSERT_LT(4 * half.count(), large);
    const Doubles x = numbers(whole, 4), residual = numbers(whole, 5);
    const Doubles y = norm_and_residual(whole, x, residual);
    for (const std::int64_t from : {std::int64_t{0}, half[1]}) {
      const auto part = [&](const Doubles& of) { return planes(of, whole[1], from, from + half[1]); };
      EXPECT_EQ(norm_and_residual(half, part(x), part(residual)), part(y)) << channels << " from " << from;
    }
  }
}

Doubles moved(const char* backend_name, const char* operation, const Shape& from, ElementType type) {
  const auto backend = make_backend(backend_name);
  Graph graph;
  const ValueId x = graph.add_value("x", from, type, Role::input);
  const ValueId y = graph.apply(operation, "y", {x});
  EXPECT_GE(graph.value(y).bytes(), large);
  GraphRun run(graph, *backend);
  run.set(x, numbers(from, 6));
  run.run({});
  EXPECT_TRUE(run.broken_guards().empty());
  return run.get(y);
}

TEST(StreamedPasses, MoveVoxelsOfLargeVolumesAsTheReferenceDoes) {
  for (const std::int64_t channels : {8, 16})
    for (const ElementType type : {ElementType::f32, ElementType::bf16}) {
      const std::int64_t depth = large / (2 * 34 * 38 * channels) / 2 + 1;
      const Shape z = {1, depth + 1, 18, 20, 8 * channels}, dy = {1, 2 * depth, 34, 38, channels};
      for (const auto& [operation, from] : {std::pair{"interleave", z}, std::pair{"interleave_gradient", dy}})
        EXPECT_EQ(moved("onednn", operation, from, type), moved("reference", operation, from, type))
            << operation << " of " << channels << " channels, " << element_name(type);
    }
}

}  // namespace
}  // namespace voxswap::net
