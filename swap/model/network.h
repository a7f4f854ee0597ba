// What exchanges between ranks that train together take (docs/ranks.md).
#pragma once

#include <cstdint>

#include "swap/model/costs.h"

namespace voxswap::swap {

struct Network {
  int ranks = 1, machines = 1;  // as many ranks on each
  double rate = 0;              // bytes/s between two machines
  double local_rate = 0;        // between two ranks of a machine
  double message_seconds = 0;   // fixed cost of every message
};

constexpr double usual_message_seconds = 1e-5;  // through a library, between machines of one room

// What an exchange of so many bytes takes when all ranks come to it at once (net/collective/exchange.cpp):
// the first rank sends and receives most, every block once for each level of the tree above the ranks, both
// ways.
double exchange_seconds(std::int64_t bytes, const Network& network);
// Of all exchanges of a graph.
void set_exchange_seconds(const net::Graph& graph, const Network& network, CostModel& costs);

}  // namespace voxswap::swap
