// The reference backend: slow, simple loops that accumulate in double, with which all other backends are
// compared. It runs every operation for every element type, including f64.
#pragma once

#include <memory>

#include "net/backends/backend.h"

namespace voxswap::net {

std::unique_ptr<Backend> make_reference_backend();

}  // namespace voxswap::net
