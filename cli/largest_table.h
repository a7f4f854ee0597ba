// The largest sizes that fit, as text for people and as JSON.
#pragma once

#include <string>
#include <vector>

#include "pipeline/plan/largest.h"

namespace voxswap::cli {

// Of one dimension, a row for each amount of host memory.
std::string largest_text(const std::vector<pipeline::Largest>& all);
std::string largest_json(const std::vector<pipeline::Largest>& all);

}  // namespace voxswap::cli
