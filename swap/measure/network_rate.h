// Measures the exchanges between the ranks of this run.
#pragma once

#include "net/collective/exchange.h"
#include "swap/model/network.h"

namespace voxswap::swap {

// Exchanges a little and 8 MiB, a few times each. All ranks call it, with an exchange that has a backend, and
// all get what the first found: of machines it knows nothing, one rate stands for all ways.
Network measure_network(net::Exchange& exchange);

}  // namespace voxswap::swap
