// The ranks in `voxswap info`: machine, device, and latency and rate to the first.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "net/collective/ranks.h"

namespace voxswap::cli {

// All ranks call this; each gets the list of all.
Json rank_list(net::Ranks& ranks);

// A line for each: "rank 1", "node7, cores 8-15, oneDNN ..., 30.1 GiB of memory; 11.2 GB/s to rank 0, 2 us".
std::vector<std::pair<std::string, std::string>> rank_lines(const Json& list);

}  // namespace voxswap::cli
