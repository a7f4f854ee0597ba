// Plain loops that accumulate in double: slow, obvious, and what every other backend is measured against.
// Runs every operation for every element type, f64 included.
#pragma once

#include <memory>

#include "net/backends/backend.h"

namespace voxswap::net {

std::unique_ptr<Backend> make_reference_backend();

}  // namespace voxswap::net
