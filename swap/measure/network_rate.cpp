#include "swap/measure/network_rate.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <vector>

#include "base/counts.h"
#include "base/log.h"
#include "net/collective/exchange.h"
#include "net/graph/graph.h"

namespace voxswap::swap {
namespace {

constexpr std::int64_t little = 16, much = std::int64_t{2} << 20;  // elements
constexpr int times = 4;

// The shortest of a few, of one f32 value of that many elements, which are zeros.
double seconds_of(net::Exchange& exchange, net::Backend& backend, std::int64_t elements) {
  net::Ranks& ranks = exchange.ranks();
  net::Graph graph;
  const net::ValueId part = graph.add_value("part", {elements}, net::ElementType::f32, net::Role::input);
  const net::NodeId node =
      graph.add("exchange", "sum", {part}, {{"parts", 1}, {"batch", static_cast<double>(ranks.count())}});
  const std::unique_ptr<net::Kernel> kernel = exchange.make_kernel(graph, graph.node(node));
  const std::unique_ptr<net::Memory> values = backend.allocate(graph.value(part).bytes());
  const std::unique_ptr<net::Stream> stream =
      exchange.on_host() ? backend.make_host_stream() : backend.make_stream();
  const std::vector<float> zeros(static_cast<std::size_t>(elements));
  const std::unique_ptr<net::Stream> copies = backend.make_stream();
  copies->copy(values->data(), zeros.data(), values->bytes());
  copies->synchronize();
  void* const value[] = {values->data()};
  double shortest = std::numeric_limits<double>::max();
  for (int i = 0; i < times; ++i) {
    net::wait_for_all(ranks);
    const auto begun = std::chrono::steady_clock::now();
    stream->launch(*kernel, {value, value, {}, nullptr, nullptr});
    stream->synchronize();
    shortest =
        std::min(shortest, std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
  }
  return shortest;
}

// What the first rank sends in an exchange of so many bytes, by the model: messages, and bytes of them.
struct Traffic {
  double messages = 0, bytes = 0;
};
Traffic traffic_of(int ranks, std::int64_t bytes) {
  const double infinite = std::numeric_limits<double>::infinity();
  return {exchange_seconds(bytes, {.ranks = ranks, .local_rate = infinite, .message_seconds = 1}),
          exchange_seconds(bytes, {.ranks = ranks, .local_rate = 1})};
}

}  // namespace

Network measure_network(net::Exchange& exchange) {
  net::Ranks& ranks = exchange.ranks();
  exchange.begin();
  Network network;
  network.ranks = ranks.count();
  const std::int64_t size = sizeof(float);
  const Traffic small = traffic_of(ranks.count(), little * size),
                large = traffic_of(ranks.count(), much * size);
  network.message_seconds = seconds_of(exchange, *exchange.backend(), little) / small.messages;
  // Messages on their way at the same time hide some of their fixed cost: of the time, at least half is rate.
  const double whole = seconds_of(exchange, *exchange.backend(), much);
  const double at_rate = std::max(whole - large.messages * network.message_seconds, whole / 2);
  network.message_seconds = std::min(network.message_seconds, (whole - at_rate) / large.messages);
  network.rate = network.local_rate = large.bytes / at_rate;
  exchange.pause();
  net::broadcast(ranks, &network, sizeof network);
  log::debug("exchanges between {}: {:.2f} GB/s and {:.0f} us per message, each way",
             counted(ranks.count(), "rank"), network.rate / 1e9, 1e6 * network.message_seconds);
  return network;
}

}  // namespace voxswap::swap
