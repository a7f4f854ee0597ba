// Communication between GPUs of several ranks through NCCL, which is loaded when ranks first connect. Only
// its sends and receives are used, because its reductions add in an order of their own.
#pragma once

#include <memory>
#include <string>

#include "net/backends/device_features.h"

namespace voxswap::net::cuda {

std::string why_no_peers();  // NCCL is missing, or this build had no NCCL header; empty if available
std::string new_meeting();
std::unique_ptr<Peers> meet(const std::string& meeting, int rank, int count, int ordinal);

}  // namespace voxswap::net::cuda
