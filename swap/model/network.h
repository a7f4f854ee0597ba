// What exchanges between ranks that train together take (docs/ranks.md).
#pragma once

#include <cstdint>

#include "swap/model/costs.h"

namespace voxswap::swap {

struct Network {
  int ranks = 1, machines = 1;  // as many ranks on each
  double rate = 0;              // bytes/s from a machine to the others, all its ranks together
  double local_rate = 0;        // between two ranks of a machine
  double message_seconds = 0;   // fixed cost of every message
};

constexpr double usual_message_seconds = 1e-5;  // through a library, between machines of one room

// What an exchange of so many bytes takes when all ranks, with a sample each, come to it at once: the swaps
// of net/steps/sum_by_halves.h one after the other, as far as the same ranks make them. A message takes its
// fixed cost and its bytes; both ways of a link are free at the same time.
double exchange_seconds(std::int64_t bytes, const Network& network);
// Of all exchanges of a graph.
void set_exchange_seconds(const net::Graph& graph, const Network& network, CostModel& costs);

}  // namespace voxswap::swap
