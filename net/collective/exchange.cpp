// A kernel takes its values as one long row and goes along it in blocks, so that few are on hand and one rank
// adds up a block while another sends the next: once up the tree, once back.
#include "net/collective/exchange.h"

#include <algorithm>
#include <cassert>
#include <vector>

#include "base/text.h"
#include "net/graph/operation.h"
#include "net/steps/batch_tree.h"

namespace voxswap::net {

namespace {

template <class T>
class ExchangeKernel final : public Kernel {
 public:
  ExchangeKernel(const Graph& graph, const Node& node, Exchange& exchange)
      : exchange_(exchange),
        parts_(node.attributes.integer("parts")),
        moves_(
            moves_of(node.attributes.integer("batch"), exchange.ranks().rank(), exchange.ranks().count())) {
    for (const ValueId id : node.outputs) counts_.push_back(graph.value(id).shape.count());
    for (const std::int64_t count : counts_) length_ += count;
    block_ = std::min(exchange_block_bytes / static_cast<std::int64_t>(sizeof(T)), length_);
    exchange.reserve((parts_ + 1) * block_ * static_cast<std::int64_t>(sizeof(T)));
  }

  std::string implementation() const override { return "sends and receives along the batch's tree"; }

  void run(const KernelArguments& arguments) override {
    auto* const rows = reinterpret_cast<T*>(exchange_.blocks());
    const bool alone = !exchange_.begun();
    for (std::int64_t from = 0; from < length_; from += block_) {
      const std::int64_t count = std::min(block_, length_ - from);
      for (std::int64_t part = 0; part < parts_; ++part)
        for_each_stretch(
            from, count, [&](std::size_t value, std::int64_t at, std::int64_t n, std::int64_t to) {
              const auto input = value * static_cast<std::size_t>(parts_) + static_cast<std::size_t>(part);
              const T* const source = static_cast<const T*>(arguments.inputs[input]) + at;
              std::copy(source, source + n, rows + part * block_ + to);
            });
      if (!alone) sum(rows, count);
      if (alone || exchange_.ranks().is_first()) write(rows, from, count, arguments);
    }
    for (std::int64_t from = 0; from < length_ && !alone; from += block_) {
      const std::int64_t count = std::min(block_, length_ - from);
      if (exchange_.ranks().is_first()) read(rows, from, count, arguments);
      hand_on(exchange_.ranks(), rows, count * static_cast<std::int64_t>(sizeof(T)));
      if (!exchange_.ranks().is_first()) write(rows, from, count, arguments);
    }
  }

 private:
  // A block of the sums, from where they lie in the end and to there.
  void read(T* block, std::int64_t from, std::int64_t count, const KernelArguments& arguments) const {
    for_each_stretch(from, count, [&](std::size_t value, std::int64_t at, std::int64_t n, std::int64_t to) {
      const T* const source = static_cast<const T*>(arguments.outputs[value]) + at;
      std::copy(source, source + n, block + to);
    });
  }
  void write(const T* block, std::int64_t from, std::int64_t count, const KernelArguments& arguments) const {
    for_each_stretch(from, count, [&](std::size_t value, std::int64_t at, std::int64_t n, std::int64_t to) {
      std::copy(block + to, block + to + n, static_cast<T*>(arguments.outputs[value]) + at);
    });
  }

  // Of the long row's elements from .. from + count: which of which value, and where in the block.
  template <class Function>
  void for_each_stretch(std::int64_t from, std::int64_t count, Function function) const {
    std::int64_t begin = 0;  // of the value, in the long row
    for (std::size_t value = 0; value < counts_.size(); begin += counts_[value++]) {
      const std::int64_t first = std::max(from, begin), last = std::min(from + count, begin + counts_[value]);
      if (first < last) function(value, first - begin, last - first, first - from);
    }
  }

  static void add(T* to, const T* from, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) to[i] += from[i];
  }

  void sum(T* rows, std::int64_t count) {
    Ranks& ranks = exchange_.ranks();
    const std::int64_t bytes = count * static_cast<std::int64_t>(sizeof(T));
    T* const received = rows + parts_ * block_;
    for (const Move& move : moves_) {
      T* const part = rows + move.part * block_;
      switch (move.kind) {
        case Move::Kind::add:
          add(part, rows + move.other * block_, count);
          break;
        case Move::Kind::receive:
          ranks.receive(static_cast<int>(move.other), received, bytes);
          add(part, received, count);
          break;
        case Move::Kind::send:
          ranks.send(static_cast<int>(move.other), part, bytes);
          break;
      }
    }
  }

  Exchange& exchange_;
  std::int64_t parts_, length_ = 0, block_ = 0;
  std::vector<Move> moves_;
  std::vector<std::int64_t> counts_;  // of every value
};

}  // namespace

void Exchange::reserve(std::int64_t bytes) {
  if (bytes > block_bytes()) blocks_.resize(static_cast<std::size_t>(bytes));
}

std::unique_ptr<Kernel> Exchange::make_kernel(const Graph& graph, const Node& node) {
  assert(is_exchange(node));
  if (graph.value(node.outputs.front()).type == ElementType::f64)
    return std::make_unique<ExchangeKernel<double>>(graph, node, *this);
  return std::make_unique<ExchangeKernel<float>>(graph, node, *this);
}

std::string order_of_exchanges(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes())
    if (is_exchange(node)) names.push_back(node.name);
  return join(names, ", ");
}

}  // namespace voxswap::net
