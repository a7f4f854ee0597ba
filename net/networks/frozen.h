// Frozen parameters: parts of a network that training does not change, selected by name. They get no
// gradients, and gradients needed only for them are not computed. Frozen batch norms use their running
// statistics.
#pragma once

#include <string>

#include "net/networks/network.h"

namespace voxswap::net {

// A pattern is a name or its beginning up to a dot ("encoder", "encoder.stages.0"). * matches anything, also
// dots. The running mean and variance of a norm are frozen together.
bool is_frozen(const NetworkOptions& options, const std::string& parameter);

// Throws Exit::usage for a pattern that matches no parameter, and when no parameter is left to train.
void check_frozen(const NetworkOptions& options, const ForwardGraph& network);

}  // namespace voxswap::net
