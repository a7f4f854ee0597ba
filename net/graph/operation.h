// What is known about an operation apart from how a backend runs it: one line of net/graph/operation_list.h
// and a place in a file of net/ops/, where its formula stands. Backends turn a node into a kernel by its
// name.
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

// How the conformance suite fills an input.
enum class Fill {
  normal,
  positive,
  statistics /* (mean, 1/deviation) pairs */,
  bits /* u8 target bits */,
  classes /* u8 0 to 4 */,
  taps /* u8 0 to 8 */,
  zeros,
  one_infinite /* the others normal */
};

// An example on which every backend must agree with the reference.
struct OperationCase {
  struct Input {
    Shape shape;
    Fill fill = Fill::normal;
    enum class Kind {
      activation,
      full /* f32 always: parameters, statistics, sums */,
      twice /* f64 always: sums over planes */,
      bits
    } kind = Kind::activation;
  };
  std::string name;
  std::vector<Input> inputs;
  Attributes attributes;
  std::vector<Input> updates;
};

// Planes from <= z < to of a volume.
struct Planes {
  std::int64_t from = 0, to = 0;
  std::int64_t count() const { return to - from; }
  bool operator==(const Planes&) const = default;
};

// How an operation is cut along the depth of its volumes (net/steps/pieces.h).
struct Cut {
  enum class Kind {
    whole,      // not at all: volumes that it reads or makes stay whole
    planewise,  // a plane of the output depends on that plane alone of every volume that is read
    windowed,   // and on its neighbours, or the volumes differ in their sides: it reads a window
    summed,     // sums over planes: by the operations `partial`, for each piece, and `total`, of all of them
    windowed_sum,  // sums over what windows give: its own outputs for each piece, which are added
  };
  Kind kind = Kind::whole;

  // windowed, windowed_sum. Of `input`, and of the next where there are two `windows`, volumes of the same
  // sides, the node reads a window; the input `along` is a volume of the same depth as what is made, where
  // there is one (of a windowed sum, what it goes along). Planes that are made begin and end at multiples of
  // `grain`. `spreads`: what is read is no volume, and what is made is one.
  struct Window {
    Planes read;
    Attributes attributes;  // of the node that makes just those planes of just that window
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

  // summed. `partial` takes the operation's inputs and gives a sum for each plane, [N,D,…] in double; `total`
  // takes those of all pieces and the operation's attributes and gives its output.
  std::string_view partial{}, total{};
};

struct Operation {
  std::string_view name;

  // Shapes and types of the outputs. Wrong inputs are programmer faults (assert).
  std::vector<ValueSpec> (*infer)(const Graph&, const std::vector<ValueId>& inputs,
                                  const Attributes&) = nullptr;

  // Appends the nodes of the backward pass of `node`. output_gradients has a value per output (none where
  // nothing flows back); returns a value per input, none where `wanted` is false or nothing flows. Null: not
  // differentiable.
  std::vector<ValueId> (*gradient)(Graph&, NodeId node, std::span<const ValueId> output_gradients,
                                   const std::vector<bool>& wanted) = nullptr;

  // Floating point operations of a node.
  double (*flops)(const Graph&, const Node&) = nullptr;

  // (output, input): the output may be written over the input where nobody reads the input afterwards.
  std::vector<std::pair<int, int>> in_place;

  // One pass over memory, cheap beside a convolution: worth computing again rather than keeping.
  bool cheap = false;

  Cut cut;

  std::vector<OperationCase> cases;

  // What it does depends on StepContext: on the step's number, the seed or the learning rate.
  bool depends_on_step = false;

  // Bytes that a node reads and writes; null: all of its inputs, outputs and updates.
  std::int64_t (*bytes)(const Graph&, const Node&) = nullptr;

  // Of an operation on windows (net/graph/window.h): the one that it does there.
  const Operation& (*inner)() = nullptr;

  // What it makes for one sample of a batch depends on the others: a batch cannot be taken sample by sample.
  bool mixes_samples = false;
};

const std::vector<const Operation*>& operations();        // the table: what every backend has
constexpr std::int64_t exchange_block_bytes = 256 << 10;  // that an exchange sends in one message
const Operation& exchange_operation();                    // what none has (net/ops/exchange.cpp)
bool is_exchange(const Node& node);
bool reads_exchange(const Graph& graph, const Node& node);  // needs what other ranks have a part in
const Operation& find_operation(std::string_view name);     // REQUIRES: it is one of these

}  // namespace voxswap::net
