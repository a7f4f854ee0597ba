// Rules between keys that can be checked without data.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "experiments/settings.h"
#include "pipeline/cases/experiment.h"

namespace voxswap::experiments {

using Where = std::function<std::string(const std::string& path)>;  // the location where a key was set
using Given = std::function<bool(const std::string& path)>;         // whether a key was set

// Sets the published slope of the network's activations unless the key is given.
void settle_network(pipeline::Experiment& experiment, const Given& given);

// The recipe nnunet normalises by preprocess.schemes, so preprocess.normalize becomes none.
void settle_recipe(pipeline::Experiment& experiment);

// With a spacing, the cases determine the resolution unless the key is given.
void settle_resolution(pipeline::Experiment& experiment, const Given& given);

// For 2D networks: a resolution given as one number applies to both sides of the image. Classification
// networks get the only loss that they support unless the key is given.
void settle_images(pipeline::Experiment& experiment, const Given& given);

// Throws Exit::usage with the location of the key that violates a rule.
void check_rules(const pipeline::Experiment& experiment, const Where& where, const Given& given);

// Finds keys that have no effect because of other keys, such as the factor of an unused schedule, or the
// slope for a network without leaky ReLUs.

// Keys without effect that were set to other values than their defaults, with the reason, such as
// "network.name is unet3d".
std::map<std::string, std::string> without_effect(const Settings& given,
                                                  const pipeline::Experiment& experiment);

}  // namespace voxswap::experiments
