// Tensors (values) of a graph, and the attributes (named numbers) of a node.
//
// The layout is N,D,H,W,C everywhere (C innermost). Weights are O,I,D,H,W as in PyTorch (I,O,D,H,W for
// transposed convolutions). Activations and their gradients have the graph's activation type. Accumulation,
// norm statistics, losses, parameters and optimiser state are f32 (f64 if activations are f64, for gradient
// checks).
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/shape.h"

namespace voxswap::net {

enum class ElementType { f64, f32, bf16, f16, u8 };
std::int64_t element_bytes(ElementType type);
std::string_view element_name(ElementType type);
ElementType parse_element_type(std::string_view name);  // throws Exit::usage

enum class Role {
  input,            // written from outside before the step
  parameter,        // persistent, trained
  optimizer_state,  // persistent
  activation,       // made by the forward pass
  statistic,        // small: norm statistics, dropout scales, loss sums
  gradient,         // made by the backward pass
};
enum class Phase { forward, loss, backward, update };

using ValueId = std::int32_t;
using NodeId = std::int32_t;
constexpr std::int32_t none = -1;

// Where a value or node comes from. A step is split by samples (net/steps/samples.h) and into slabs
// (net/steps/slabs.h). Several nodes and values then have the same origin, and their names say so for people.
struct Origin {
  std::string name;            // in the step of one sample on whole volumes
  std::int32_t slab = none;    // along the depth, from 0; none: not split
  std::int32_t sample = none;  // in the batch, from 0; none: a batch of one, or not of one sample

  Origin() = default;
  Origin(std::string the_name, std::int32_t the_slab = none, std::int32_t the_sample = none)
      : name(std::move(the_name)), slab(the_slab), sample(the_sample) {}
  Origin(const char* the_name) : name(the_name) {}

  std::string text() const;  // "norm", "norm[4]", "norm@3", "norm@3[4]"; samples are counted from 1 here
  Origin with_suffix(std::string_view suffix) const { return {name + std::string(suffix), slab, sample}; }
  Origin with_slab(std::int32_t index) const { return {name, index, sample}; }
  Origin with_sample(std::int32_t index) const { return {name, slab, index}; }
};

struct Value {
  std::string name;  // for people
  Shape shape;
  ElementType type = ElementType::f32;
  Role role = Role::activation;
  NodeId producer = none;  // none for inputs and persistent values
  Origin origin = {};

  std::int64_t bytes() const { return shape.count() * element_bytes(type); }
  bool persistent() const { return role == Role::parameter || role == Role::optimizer_state; }
};

// Named numbers. Integers are exact up to 2^53.
class Attributes {
 public:
  Attributes() = default;
  Attributes(std::initializer_list<std::pair<const std::string, double>> values) : values_(values) {}
  double real(std::string_view name) const;           // REQUIRES: it is present
  std::int64_t integer(std::string_view name) const;  // REQUIRES: it is present and an integer
  bool flag(std::string_view name) const;             // false if absent
  std::int64_t integer_or(std::string_view name, std::int64_t otherwise) const {
    return values_.contains(name) ? integer(name) : otherwise;
  }
  void set(const std::string& name, double value) { values_[name] = value; }
  const std::map<std::string, double, std::less<>>& values() const { return values_; }
  bool operator==(const Attributes&) const = default;

 private:
  std::map<std::string, double, std::less<>> values_;
};

}  // namespace voxswap::net
