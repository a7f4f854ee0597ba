// The table of this backend: operation name -> maker of its kernel. Convolutions are cuDNN's and cuBLAS's
// (convolution.cpp, matrix_product.cpp); everything else is our own (own_kernels.h, *.cu).
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "net/backends/backend.h"
#include "net/backends/cuda/device.h"
#include "net/graph/operation_list.h"

namespace voxswap::net::cuda {

constexpr std::int64_t vector_bytes = 16;  // that kernels load at once: where what they read may start

using Maker = std::unique_ptr<Kernel> (*)(const Graph&, const Node&, Device&);

Maker find_maker(const Operation& operation);

// own_kernels.cpp: the part of the table that needs no library.
Maker find_own_maker(std::string_view operation);  // null: of convolutions and operations on windows

// convolution.cpp
#define DECLARE(operation) std::unique_ptr<Kernel> make_##operation(const Graph&, const Node&, Device&);
VOXSWAP_CONVOLUTIONS(DECLARE)
#undef DECLARE

}  // namespace voxswap::net::cuda
