// Our own kernels, for everything except convolutions. They share vectors of 16 bytes (elements.cuh), the
// partition of a volume among threads (rows.h, walk.cuh), and deterministic sums (sums.cuh).
//
// They take f32, bf16 and f16 volumes and compute in f32. Their only workspace is for partial sums.
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
