// What must hold between keys before any data is looked at.
#pragma once

#include <functional>
#include <string>

#include "pipeline/cases/options.h"

namespace voxswap::experiments {

// What one number says of all sides of a volume, it says of both sides of an image.
void settle_images(pipeline::RunOptions& options);

// `where` gives the place at which a key was set, `given` whether it was. Throws Exit::usage with that place.
void check_rules(const pipeline::RunOptions& options,
                 const std::function<std::string(const std::string& path)>& where,
                 const std::function<bool(const std::string& path)>& given);

}  // namespace voxswap::experiments
