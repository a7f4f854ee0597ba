// GPUs of several ranks that talk to one another through NCCL, which is opened when ranks first meet. Only
// its sends and receives are used: its own reductions add in an order of theirs.
#pragma once

#include <memory>
#include <string>

#include "net/backends/device_features.h"

namespace voxswap::net::cuda {

std::string why_no_peers();  // NCCL is not there, or this was built without its header; empty where it is
std::string new_meeting();
std::unique_ptr<Peers> meet(const std::string& meeting, int rank, int count, int ordinal);

}  // namespace voxswap::net::cuda
