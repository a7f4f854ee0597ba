// What exchanges between the ranks of this run really take.
#pragma once

#include "net/collective/ranks.h"
#include "swap/model/network.h"

namespace voxswap::swap {

// Exchanges a little and 8 MiB, a few times each. All ranks call it, and all get what the first found: of
// machines it knows nothing, one rate stands for all ways.
Network measure_network(net::Ranks& ranks);

}  // namespace voxswap::swap
