// Adapts options to every network of the table, for tests of all networks: minimal depth, volumes of one
// plane for 2D networks, and a class per image for classifiers.
#pragma once

#include <algorithm>

#include "net/networks/networks.h"
#include "net/steps/step.h"

namespace voxswap::net {

inline StepOptions suited(StepOptions options, const std::string& network) {
  options.network.name = network;
  options.network.depth = std::max(options.network.depth, network_depths(network).first);
  if (takes_images(network)) options.input[1] = 1;
  if (classifies_images(network)) options.loss = loss_options(Loss::softmax_cross_entropy);
  return options;
}

}  // namespace voxswap::net
