// Parts of a network that training leaves as they are: parameters by name. No gradient of them is made, and
// none of what only they would need; norms of a batch take their running statistics there.
#pragma once

#include <string>

#include "net/networks/network.h"

namespace voxswap::net {

// A pattern is a name, or the beginning of one up to a dot ("encoder", "encoder.stages.0"); * in it stands
// for anything, dots too. The running mean and variance of a norm are frozen together.
bool is_frozen(const NetworkOptions& options, const std::string& parameter);

// Throws Exit::usage for a pattern that none of the parameters has, and where nothing is left to be trained.
void check_frozen(const NetworkOptions& options, const ForwardGraph& network);

}  // namespace voxswap::net
