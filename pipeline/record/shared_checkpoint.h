// Broadcasts a checkpoint that rank 0 read to all ranks.
#pragma once

#include <optional>

#include "net/collective/ranks.h"
#include "pipeline/record/checkpoint.h"

namespace voxswap::pipeline {

// What rank 0 gives; what the others give does not count.
std::optional<Checkpoint> broadcast(net::Ranks& ranks, std::optional<Checkpoint> checkpoint);

}  // namespace voxswap::pipeline
