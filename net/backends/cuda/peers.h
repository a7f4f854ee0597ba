// Communication between GPUs of several ranks through NCCL, which is loaded when ranks first connect. Only
// its sends and receives are used, because its reductions add in an unspecified order.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "net/backends/backend.h"

namespace voxswap::net::cuda {

std::string why_no_peers();  // NCCL is missing, or this build had no NCCL header; empty if available
std::string create_rendezvous();
std::unique_ptr<Peers> join_rendezvous(const std::string& rendezvous, int rank, int count, int ordinal,
                                       const TransferFailed& failed);

// Adds data received from another rank to data on this GPU.
void add_floats(float* to, const float* from, std::int64_t count);  // on the current stream

}  // namespace voxswap::net::cuda
