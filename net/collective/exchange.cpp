// A kernel treats its values as one long row and processes it in chunks, to need little memory.

#include "net/collective/exchange.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "net/backends/backend.h"
#include "net/collective/launched.h"
#include "net/graph/operation.h"
#include "net/graph/send_receive.h"
#include "net/steps/batch_tree.h"

namespace voxswap::net {

namespace {

template <class T>
class ExchangeKernel final : public Kernel {
 public:
  ExchangeKernel(const Graph& graph, const Node& node, Exchange& exchange)
      : exchange_(exchange),
        parts_(node.attributes.integer("parts")),
        batch_(node.attributes.integer("batch")) {
    for (const ValueId id : node.outputs) counts_.push_back(graph.value(id).shape.count());
    for (const std::int64_t count : counts_) length_ += count;
    chunk_ = std::min(exchange_chunk_bytes(exchange.replicas()) / size, length_);
    whole_ = sum_of(chunk_);
    if (length_ % chunk_ > 0) rest_ = sum_of(length_ % chunk_);
    exchange.carrier().reserve((parts_ * chunk_ + (chunk_ + 1) / 2 + spare) * size);
  }

  std::string implementation() const override { return "swaps of halves along the batch's tree"; }

  void run(const KernelArguments& arguments) override {
    for (std::int64_t from = 0; from < length_; from += chunk_) {
      const std::int64_t count = std::min(chunk_, length_ - from);
      for (std::int64_t part = 0; part < parts_; ++part) read(part, from, count, arguments);
      exchange_.carrier().settle();
      if (exchange_.begun()) sum(count == chunk_ ? whole_ : rest_);
      write(from, count, arguments);
      exchange_.carrier().settle();
    }
  }

 private:
  static constexpr std::int64_t size = sizeof(T);
  static constexpr std::int64_t spare = 1024;  // halves are rounded up, short ranges not halved

  SumByHalves sum_of(std::int64_t length) const {
    return of_rank(sum_by_halves(batch_, exchange_.replicas(), length), exchange_.replica());
  }
  T* row(std::int64_t part) const { return reinterpret_cast<T*>(exchange_.carrier().rows()) + part * chunk_; }

  void read(std::int64_t part, std::int64_t from, std::int64_t count,
            const KernelArguments& arguments) const {
    for_each_range(from, count, [&](std::size_t value, std::int64_t at, std::int64_t n, std::int64_t to) {
      const std::size_t input = value * static_cast<std::size_t>(parts_) + static_cast<std::size_t>(part);
      const T* const source = static_cast<const T*>(arguments.inputs[input]) + at;
      exchange_.carrier().take(row(part) + to, source, n * size);
    });
  }
  void write(std::int64_t from, std::int64_t count, const KernelArguments& arguments) const {
    for_each_range(from, count, [&](std::size_t value, std::int64_t at, std::int64_t n, std::int64_t to) {
      exchange_.carrier().give(static_cast<T*>(arguments.outputs[value]) + at, row(0) + to, n * size);
    });
  }

  // Calls `function` for each value that overlaps elements from .. from + count of the long row.
  template <class Function>
  void for_each_range(std::int64_t from, std::int64_t count, Function function) const {
    std::int64_t begin = 0;  // of the value, in the long row
    for (std::size_t value = 0; value < counts_.size(); begin += counts_[value++]) {
      const std::int64_t first = std::max(from, begin), last = std::min(from + count, begin + counts_[value]);
      if (first < last) function(value, first - begin, last - first, first - from);
    }
  }

  // The part of a swap's range that this rank adds up, and the other rank's part.
  struct Halves {
    std::int64_t other = 0, part = 0;
    std::int64_t kept = 0, kept_count = 0, given = 0, given_count = 0;
  };
  Halves halves_of(const Swap& swap) const {
    const std::int64_t left = swap.middle - swap.begin, right = swap.end - swap.middle;
    if (swap.left.rank == exchange_.replica())
      return {swap.right.rank, swap.left.part, swap.begin, left, swap.middle, right};
    return {swap.left.rank, swap.right.part, swap.middle, right, swap.begin, left};
  }

  // From the rows of the parts to the row of the sum, which is the first row.
  void sum(const SumByHalves& of) {
    Carrier& carrier = exchange_.carrier();
    T* const received = row(parts_);
    for (const Swap& swap : of.swaps) {
      if (swap.is_local()) {
        carrier.add(row(swap.left.part) + swap.begin, row(swap.right.part) + swap.begin,
                    swap.end - swap.begin);
        continue;
      }
      const Halves h = halves_of(swap);
      carrier.swap(exchange_.rank_of_replica(h.other), row(h.part) + h.given, h.given_count * size, received,
                   h.kept_count * size);
      carrier.add(row(h.part) + h.kept, received, h.kept_count);
    }
    for (const RowRange& range : of.ranges)
      if (range.at.part > 0)
        carrier.copy(row(0) + range.begin, row(range.at.part) + range.begin,
                     (range.end - range.begin) * size);
    for (auto swap = of.swaps.rbegin(); swap != of.swaps.rend(); ++swap) {
      if (swap->is_local()) continue;
      const Halves h = halves_of(*swap);
      carrier.swap(exchange_.rank_of_replica(h.other), row(0) + h.kept, h.kept_count * size, row(0) + h.given,
                   h.given_count * size);
    }
  }

  Exchange& exchange_;
  std::int64_t parts_, batch_, length_ = 0, chunk_ = 0;
  SumByHalves whole_, rest_;          // for a full chunk, and for the last one
  std::vector<std::int64_t> counts_;  // elements per value
};

// Sends all planes of all values in one message, and receives one. In host memory, large parts are separate
// messages instead, because copying them to and from a row takes longer than a message.
class SendReceiveKernel final : public Kernel {
 public:
  SendReceiveKernel(const Graph& graph, const Node& node, Exchange& exchange) : exchange_(exchange) {
    const SendReceive of = send_receive_of(node.attributes);
    other_ = exchange.rank_of_slab(of.other);
    in_host_memory_ = exchange.backend() == nullptr || exchange.backend()->computes_on_host();
    for (std::size_t i = 0; i < of.sent.size(); ++i) {
      const Value& value = graph.value(node.inputs[i]);
      const std::int64_t sample = value.bytes() / value.shape[0];
      const std::int64_t bytes = bytes_of_planes(value, of.sent[i]) / value.shape[0];
      for (std::int64_t n = 0; n < value.shape[0]; ++n)
        add(sent_, {i, n * sample + of.sent[i].from * (sample / value.shape[1]), bytes});
    }
    for (std::size_t i = 0; i < of.received.size(); ++i) {
      const Value& value = graph.value(node.outputs[i]);
      const std::int64_t sample = value.bytes() / value.shape[0];
      for (std::int64_t n = 0; n < value.shape[0]; ++n) add(received_, {i, n * sample, sample});
    }
    exchange.carrier().reserve(received_at() + received_.bytes_of_row);
  }

  std::string implementation() const override { return "messages each way"; }

  void run(const KernelArguments& arguments) override {
    Carrier& carrier = exchange_.carrier();
    std::byte* row = carrier.rows();
    for (const Part& part : sent_.in_row) {
      carrier.take(row, address(arguments.inputs, part), part.bytes);
      row += part.bytes;
    }
    carrier.settle();
    row = carrier.rows() + received_at();
    if (exchange_.begun())
      carrier.swap(other_, carrier.rows(), sent_.bytes_of_row, row, received_.bytes_of_row);
    for (const Part& part : received_.in_row) {
      carrier.give(address(arguments.outputs, part), row, part.bytes);
      row += part.bytes;
    }
    carrier.settle();
    swap_in_place(arguments);
  }

 private:
  struct Part {
    std::size_t value = 0;  // of inputs or outputs
    std::int64_t from = 0, bytes = 0;
  };
  // Sender and receiver divide the data in the same way.
  struct Parts {
    std::vector<Part> in_row, in_place;
    std::int64_t bytes_of_row = 0;
  };
  static constexpr std::int64_t own_message = std::int64_t{128} << 10;  // bytes

  void add(Parts& parts, const Part& part) const {
    if (in_host_memory_ && part.bytes >= own_message) {
      parts.in_place.push_back(part);
    } else {
      parts.in_row.push_back(part);
      parts.bytes_of_row += part.bytes;
    }
  }
  static std::byte* address(std::span<void* const> values, const Part& part) {
    return static_cast<std::byte*>(values[part.value]) + part.from;
  }
  void swap_in_place(const KernelArguments& arguments) const {
    const std::vector<Part>&sent = sent_.in_place, &received = received_.in_place;
    if (!exchange_.begun()) {
      for (const Part& part : received)
        std::fill_n(address(arguments.outputs, part), part.bytes, std::byte{0});
      return;
    }
    for (std::size_t i = 0; i < std::max(sent.size(), received.size()); ++i) {
      const bool sends = i < sent.size(), receives = i < received.size();
      exchange_.carrier().swap(
          other_, sends ? address(arguments.inputs, sent[i]) : nullptr, sends ? sent[i].bytes : 0,
          receives ? address(arguments.outputs, received[i]) : nullptr, receives ? received[i].bytes : 0);
    }
  }
  std::int64_t received_at() const { return (sent_.bytes_of_row + 63) / 64 * 64; }

  Exchange& exchange_;
  int other_ = 0;
  bool in_host_memory_ = false;
  Parts sent_, received_;
};

}  // namespace

Exchange::Exchange(Ranks& ranks, Backend* backend, int slabs)
    : ranks_(&ranks), backend_(backend), slabs_(slabs), carrier_(carry_through_host(ranks, backend)) {
  assert(slabs > 0 && ranks.count() % slabs == 0);
}

void Exchange::connect() {
  if (ranks_->is_alone() || backend_ == nullptr) return;
  if (std::unique_ptr<Carrier> between = carry_between_devices(*ranks_, *backend_))
    carrier_ = std::move(between);
}

std::unique_ptr<Kernel> Exchange::make_kernel(const Graph& graph, const Node& node) {
  assert(is_exchange(node));
  if (node.operation == &send_receive_operation())
    return std::make_unique<SendReceiveKernel>(graph, node, *this);
  if (graph.value(node.outputs.front()).type == ElementType::f64)
    return std::make_unique<ExchangeKernel<double>>(graph, node, *this);
  return std::make_unique<ExchangeKernel<float>>(graph, node, *this);
}

std::string order_of_exchanges(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes())
    if (node.operation == &exchange_operation()) names.push_back(node.name);
  return join(names, ", ");
}

namespace {

class HostCarrier : public Carrier {
 public:
  explicit HostCarrier(Ranks& ranks) : ranks_(ranks) {}
  bool on_host() const final { return true; }

  void reserve(std::int64_t bytes) override {
    if (bytes > this->bytes()) rows_.resize(static_cast<std::size_t>(bytes));
  }
  std::byte* rows() override { return rows_.data(); }
  std::int64_t bytes() const override { return static_cast<std::int64_t>(rows_.size()); }

  void take(void* row, const void* value, std::int64_t bytes) override { copy(row, value, bytes); }
  void give(void* value, const void* row, std::int64_t bytes) override { copy(value, row, bytes); }
  void settle() override {}

  void copy(void* to, const void* from, std::int64_t bytes) final {
    std::copy_n(static_cast<const std::byte*>(from), bytes, static_cast<std::byte*>(to));
  }
  void add(float* to, const float* from, std::int64_t count) final { add_up(to, from, count); }
  void add(double* to, const double* from, std::int64_t count) final { add_up(to, from, count); }
  void swap(int other, const void* sent, std::int64_t sent_count, void* received,
            std::int64_t received_count) final {
    ranks_.swap(other, sent, sent_count, received, received_count);
  }

 private:
  template <class T>
  static void add_up(T* to, const T* from, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) to[i] += from[i];
  }

  Ranks& ranks_;
  std::vector<std::byte> rows_;
};

// Rows are in pinned host memory. Copies use a separate stream, so other work does not wait for them.
class StagingCarrier final : public HostCarrier {
 public:
  StagingCarrier(Ranks& ranks, Backend& backend)
      : HostCarrier(ranks), backend_(backend), copies_(backend.make_stream()) {}

  void reserve(std::int64_t bytes) override {
    if (bytes > this->bytes()) memory_ = backend_.allocate_host(bytes);
  }
  std::byte* rows() override { return memory_->data(); }
  std::int64_t bytes() const override { return memory_ ? memory_->bytes() : 0; }

  void take(void* row, const void* value, std::int64_t bytes) override { copies_->copy(row, value, bytes); }
  void give(void* value, const void* row, std::int64_t bytes) override { copies_->copy(value, row, bytes); }
  void settle() override { copies_->synchronize(); }

 private:
  Backend& backend_;
  std::unique_ptr<Memory> memory_;
  std::unique_ptr<Stream> copies_;
};

class DeviceCarrier final : public Carrier {
 public:
  DeviceCarrier(Backend& backend, std::unique_ptr<Peers> peers)
      : backend_(backend), peers_(std::move(peers)) {}
  bool on_host() const override { return false; }

  void reserve(std::int64_t bytes) override {
    if (bytes > this->bytes()) memory_ = backend_.allocate(bytes);
  }
  std::byte* rows() override { return memory_->data(); }
  std::int64_t bytes() const override { return memory_ ? memory_->bytes() : 0; }

  void take(void* row, const void* value, std::int64_t bytes) override { copy(row, value, bytes); }
  void give(void* value, const void* row, std::int64_t bytes) override { copy(value, row, bytes); }
  void settle() override {}  // the stream keeps the order

  void copy(void* to, const void* from, std::int64_t bytes) override { peers_->copy(to, from, bytes); }
  void add(float* to, const float* from, std::int64_t count) override { peers_->add(to, from, count); }
  void add(double*, const double*, std::int64_t) override { assert(false && "a GPU's sums are f32"); }
  void swap(int other, const void* sent, std::int64_t sent_count, void* received,
            std::int64_t received_count) override {
    peers_->swap(other, sent, sent_count, received, received_count);
  }

 private:
  Backend& backend_;
  std::unique_ptr<Peers> peers_;
  std::unique_ptr<Memory> memory_;
};

// No rank can continue, and this one waits for its GPU.
[[noreturn]] void end_after(const std::string& failed_transfer, int rank) {
  log::error("rank {}: {}. The same command with --resume continues a run", rank, failed_transfer);
  end_all_ranks(static_cast<int>(Exit::failed));
  std::_Exit(static_cast<int>(Exit::failed));
}

}  // namespace

std::unique_ptr<Carrier> carry_through_host(Ranks& ranks, Backend* backend) {
  if (backend == nullptr || backend->computes_on_host()) return std::make_unique<HostCarrier>(ranks);
  return std::make_unique<StagingCarrier>(ranks, *backend);
}

std::unique_ptr<Carrier> carry_between_devices(Ranks& ranks, Backend& backend) {
  const std::string computes_on_host = "-";
  auto* const device = dynamic_cast<PeerBackend*>(&backend);
  const std::vector<std::string> all =
      gather(ranks, device == nullptr ? computes_on_host : device->why_no_peers());
  if (std::find(all.begin(), all.end(), computes_on_host) != all.end()) return nullptr;
  for (const std::string& why : all)
    if (!why.empty()) {
      log::info("gradients are exchanged through host memory, not directly between GPUs: {}", why);
      return nullptr;
    }
  const std::string rendezvous = broadcast(ranks, ranks.is_first() ? device->create_rendezvous() : "");
  return std::make_unique<DeviceCarrier>(
      backend, device->join(rendezvous, ranks.rank(), ranks.count(),
                            [rank = ranks.rank()](const std::string& message) { end_after(message, rank); }));
}

}  // namespace voxswap::net
