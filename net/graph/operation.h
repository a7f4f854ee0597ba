// Device-independent properties of an operation. An operation is one line of net/graph/operation_list.h and a
// function in net/ops/, where its formula is. Backends map a node to a kernel by the operation's name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/graph/value.h"

namespace voxswap::net {

class Graph;
struct Node;  // net/graph/graph.h

struct ValueSpec {
  Shape shape;
  ElementType type = ElementType::f32;
};

// Planes from <= z < to of a volume.
struct Planes {
  std::int64_t from = 0, to = 0;
  std::int64_t count() const { return to - from; }
  bool operator==(const Planes&) const = default;
};

// How an operation is split into slabs along the depth of its volumes (net/steps/slabs.h).
struct Cut {
  enum class Kind {
    whole,         // never split: its volumes stay whole
    planewise,     // a plane of the output depends only on the same plane of the inputs
    windowed,      // it also reads neighbouring planes (halo), or depths differ: it reads a window
    summed,        // sums over planes: operation `partial` for each slab, then `total` over all slabs
    windowed_sum,  // sums over windows: the operation itself for each slab, then the sums are added
  };
  Kind kind = Kind::whole;

  // For windowed and windowed_sum. The node reads a window of `input`, and of the next input if `windows` is
  // 2 (both have the same sides). Input `along`, if any, is a volume as deep as the output; for a windowed
  // sum, the volume that it iterates over. Output ranges begin and end at multiples of `grain`. `spreads`:
  // the input is not a volume, the output is.
  struct Window {
    Planes read;
    Attributes attributes;  // of the node that makes only these planes from only this window
  };
  Window (*window)(const Graph&, const Node&, Planes made) = nullptr;
  int input = 0;
  int along = -1;  // none
  std::int64_t grain = 1;
  int windows = 1;
  bool spreads = false;
  bool reads_window(std::size_t position) const {
    const int at = static_cast<int>(position);
    return window != nullptr && at >= input && at < input + windows;
  }

  // For summed. `partial` takes the operation's inputs and returns one sum per plane, [N,D,…] in f64. `total`
  // takes those of all slabs and the operation's attributes, and returns the operation's output.
  std::string_view partial{}, total{};
};

struct Operation {
  std::string_view name;

  // Shapes and types of the outputs. Invalid inputs are programming errors (assert).
  std::vector<ValueSpec> (*infer)(const Graph&, const std::vector<ValueId>& inputs,
                                  const Attributes&) = nullptr;

  // Appends the backward pass of `node`. output_gradients has one value per output (`none` where no gradient
  // flows). Returns one value per input, `none` where `wanted` is false or no gradient flows. Null: not
  // differentiable.
  std::vector<ValueId> (*gradient)(Graph&, NodeId node, std::span<const ValueId> output_gradients,
                                   const std::vector<bool>& wanted) = nullptr;

  // Floating point operations of a node.
  double (*flops)(const Graph&, const Node&) = nullptr;

  Cut cut{};

  // Pairs (output, input): the output may overwrite the input if nobody reads the input afterwards.
  std::vector<std::pair<int, int>> in_place{};

  // One pass over memory, cheap compared with a convolution: worth recomputing instead of keeping.
  bool cheap = false;

  // Depends on StepContext: step number, seed or learning rate.
  bool depends_on_step = false;

  // Bytes that a node reads and writes. Null: all of its inputs, outputs and updates.
  std::int64_t (*bytes)(const Graph&, const Node&) = nullptr;

  // For a windowed operation (net/graph/window.h): the operation applied to the window.
  const Operation& (*inner)() = nullptr;

  // The result for one sample depends on the other samples (batch norm), so a batch cannot be split.
  bool mixes_samples = false;
};

const std::vector<const Operation*>& operations();        // the table: every backend implements these
constexpr std::int64_t exchange_block_bytes = 256 << 10;  // bytes that an exchange sends in one message
const Operation& exchange_operation();      // all-reduce; in no backend's table (net/ops/exchange.cpp)
const Operation& send_receive_operation();  // between two ranks; likewise
bool is_exchange(const Node& node);         // one of the two: depends on other ranks
bool reads_exchange(const Graph& graph, const Node& node);  // depends on other ranks
const Operation& find_operation(std::string_view name);     // REQUIRES: it exists

}  // namespace voxswap::net
