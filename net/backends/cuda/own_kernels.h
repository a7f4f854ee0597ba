// Our own kernels: everything but convolutions. What they share: vectors of 16 bytes (elements.cuh), the cut
// of a volume among threads (rows.h, walk.cuh), sums that are the same every time (sums.cuh).
//
// They compute in f32, take f32, bf16 and f16 volumes, and have no workspace but partial sums.
#pragma once

#include <memory>

#include "net/backends/backend.h"
#include "net/backends/cuda/device.h"
#include "net/graph/operation_list.h"

namespace voxswap::net::cuda {

#define DECLARE(operation) std::unique_ptr<Kernel> make_##operation(const Graph&, const Node&, Device&);
VOXSWAP_OTHER_OPERATIONS(DECLARE)
#undef DECLARE

}  // namespace voxswap::net::cuda
