// What must hold between keys before any data is looked at.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "experiments/settings.h"
#include "pipeline/cases/options.h"

namespace voxswap::experiments {

using Where = std::function<std::string(const std::string& path)>;  // the place at which a key was set
using Given = std::function<bool(const std::string& path)>;         // whether it was

// The slope that a network was published with, unless another was given.
void settle_network(pipeline::RunOptions& options, const Given& given);

// With a spacing, the cases say which resolution they have, unless one was given.
void settle_resolution(pipeline::RunOptions& options, const Given& given);

// What one number says of all sides of a volume, it says of both sides of an image; and the loss of a network
// that gives an image one class is, unless another was given, the only one that it takes.
void settle_images(pipeline::RunOptions& options, const Given& given);

// Throws Exit::usage with the place of the key that breaks a rule.
void check_rules(const pipeline::RunOptions& options, const Where& where, const Given& given);

// Which keys have no effect because of other keys: a factor of a schedule without one, a slope of a network
// without leaky ReLUs.

// The keys that were given another value than their default, and in vain: key -> why, as in "network.name is
// unet3d".
std::map<std::string, std::string> without_effect(const Settings& given, const pipeline::RunOptions& options);

}  // namespace voxswap::experiments
