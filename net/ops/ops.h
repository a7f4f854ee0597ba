// One function per operation, and helpers shared by their files.
//
// The comment above each operation is its formula, for writers of backends. x, y: N,D,H,W,C of the activation
// type. "full" means f32 (f64 in f64 graphs). "over x": the output may overwrite x element by element if
// nobody reads x afterwards.
#pragma once

#include <cassert>
#include <span>
#include <utility>
#include <vector>

#include "net/graph/graph.h"
#include "net/graph/operation.h"
#include "net/graph/operation_list.h"

namespace voxswap::net::ops {

// Parameters and results of the functions of an operation (net/graph/operation.h).
using Ids = std::vector<ValueId>;
using Specs = std::vector<ValueSpec>;
using Gradients = std::span<const ValueId>;
using Wanted = std::vector<bool>;

#define DECLARE(operation) const Operation& operation();
VOXSWAP_OPERATIONS(DECLARE)
#undef DECLARE

// Windowed operations (windowed.cpp).
template <const Operation& (*inner)()>
const Operation& windowed();

// How operations are split into slabs (net/graph/operation.h).
constexpr Cut whole{};
constexpr Cut planewise{.kind = Cut::Kind::planewise};
constexpr Cut windowed(Cut::Window (*window)(const Graph&, const Node&, Planes), int input = 0,
                       int along = none, std::int64_t grain = 1) {
  return {.kind = Cut::Kind::windowed, .window = window, .input = input, .along = along, .grain = grain};
}
constexpr Cut windowed_sum(Cut::Window (*window)(const Graph&, const Node&, Planes), int input, int along) {
  return {.kind = Cut::Kind::windowed_sum, .window = window, .input = input, .along = along};
}
// One window of two volumes, `input` and the next.
constexpr Cut windowed_pair(Cut::Window (*window)(const Graph&, const Node&, Planes), int input) {
  return {.kind = Cut::Kind::windowed, .window = window, .input = input, .windows = 2};
}
// Makes a volume from its first input, which is not a volume.
constexpr Cut spread(Cut::Window (*window)(const Graph&, const Node&, Planes)) {
  return {.kind = Cut::Kind::windowed, .window = window, .spreads = true};
}
constexpr Cut summed(std::string_view partial, std::string_view total) {
  return {.kind = Cut::Kind::summed, .partial = partial, .total = total};
}

// Type of statistics, sums and parameters for an activation type.
inline ElementType full_type(ElementType activation_type) {
  return activation_type == ElementType::f64 ? ElementType::f64 : ElementType::f32;
}
inline ElementType full_type(const Graph& graph, ValueId id) {
  return full_type(graph.value(id).type);
}

inline const Shape& shape_of(const Graph& graph, ValueId id) {
  return graph.value(id).shape;
}

// Bytes per voxel of a target for these logits: 1 for u8[N,D,H,W], B for u8[N,D,H,W,B] (many labels or
// classes).
inline std::int64_t bytes_of_target(const Shape& logits, const Shape& target) {
  for (int axis = 0; axis < 4; ++axis) assert(target[axis] == logits[axis]);
  return target.rank() == 4 ? 1 : target[4];
}

// D * H * W of N,D,H,W,C.
inline std::int64_t voxels(const Shape& shape) {
  return shape[1] * shape[2] * shape[3];
}

inline Specs like(const Graph& graph, ValueId id) {
  return {{graph.value(id).shape, graph.value(id).type}};
}
// For operations whose output has the shape and type of their first input.
inline Specs like_first(const Graph& graph, const Ids& inputs, const Attributes&) {
  return like(graph, inputs[0]);
}

// For statistics: the gradient of norm_activation already treats them as functions of x.
inline Ids no_gradient(Graph&, NodeId, Gradients, const Wanted&) {
  return {none};
}

// [N,D,C,kinds] for a first input N,D,H,W,C.
template <std::int64_t kinds>
Specs infer_sums_of_planes(const Graph& graph, const Ids& inputs, const Attributes&) {
  const Shape& x = shape_of(graph, inputs[0]);
  assert(x.rank() == 5);
  return {{{x[0], x[1], x[4], kinds}, ElementType::f64}};
}

// `Count` operations per element of the first input.
template <int Count>
double per_element(const Graph& graph, const Node& node) {
  return Count * static_cast<double>(graph.value(node.inputs[0]).shape.count());
}

// `Cut::window` of each windowed operation: which input planes a range of output planes needs, and the
// attributes of the node that makes exactly these from those.
//
// The node may itself be such a part, so splitting works recursively.
Cut::Window window_conv3d(const Graph&, const Node&, Planes made);
Cut::Window window_data_gradient(const Graph&, const Node&, Planes made);
// Also of weight gradients, whose output is a sum: `made` counts planes of dy.
Cut::Window window_pool(const Graph&, const Node&, Planes made);
Cut::Window window_unpool(const Graph&, const Node&, Planes made);
Cut::Window window_resize(const Graph&, const Node&, Planes made);
Cut::Window window_resize_gradient(const Graph&, const Node&, Planes made);
Cut::Window window_spread(const Graph&, const Node&, Planes made);
Cut::Window window_upsample(const Graph&, const Node&, Planes made);
Cut::Window window_of_blocks(const Graph&, const Node&, Planes made);
Cut::Window window_interleave(const Graph&, const Node&, Planes made);
Cut::Window window_interleave_gradient(const Graph&, const Node&, Planes made);

}  // namespace voxswap::net::ops
