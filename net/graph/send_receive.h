// Nodes `send_receive`: two ranks that share a volume send each other planes of their slabs, or whole partial
// sums, that the other one needs (net/steps/rank_slabs.h). Each node has a counterpart on the other
// rank, and both ranks run them in the same order.
//
// Inputs: the values to send, a range along axis 1 of each. Outputs: the received values, or one unused byte
// if there are none.
#pragma once

#include <cstdint>
#include <vector>

#include "net/graph/graph.h"
#include "net/graph/operation.h"

namespace voxswap::net {

struct SendReceive {
  std::int64_t other = 0;           // index of the other rank among those that share the volume
  std::vector<Planes> sent;         // per input
  std::vector<ValueSpec> received;  // per output
};
Attributes attributes_of(const SendReceive& node);
SendReceive send_receive_of(const Attributes& attributes);

// Bytes of these planes of a value.
std::int64_t bytes_of_planes(const Value& value, Planes planes);
// Bytes that a node sends. REQUIRES: it is a send_receive.
std::int64_t sent_bytes(const Graph& graph, const Node& node);

}  // namespace voxswap::net
