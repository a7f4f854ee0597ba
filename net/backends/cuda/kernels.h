// This backend's table: operation name -> function that makes its kernel. Most convolutions use cuDNN and
// cuBLAS (convolution.cpp, matrix_product.cpp). All other kernels are our own (*.cu). They share vectors of
// 16 bytes (launch.cuh), the partition of a volume among threads (rows.h), and deterministic sums
// (passes.cuh). They take f32, bf16 and f16 volumes and sum in f32. They need workspace only for partial sums
// and, in narrow convolutions, for weights.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "net/backends/backend.h"
#include "net/backends/cuda/device.h"
#include "net/graph/operation_list.h"

namespace voxswap::net::cuda {

constexpr std::int64_t vector_bytes = 16;  // bytes per load, and alignment of data

using Maker = std::unique_ptr<Kernel> (*)(const Graph&, const Node&, Device&);

Maker find_maker(const Operation& operation);

Maker find_own_maker(std::string_view operation);  // null for convolutions and windowed operations

#define DECLARE(operation) std::unique_ptr<Kernel> make_##operation(const Graph&, const Node&, Device&);
VOXSWAP_OPERATIONS(DECLARE)
#undef DECLARE

// For a windowed node, reads the slabs in place (narrow_convolution.cu). Null if the convolution is not
// narrow, or if its window has too many slabs.
std::unique_ptr<Kernel> make_windowed_narrow_convolution(const Graph&, const Node&, Device&);

}  // namespace voxswap::net::cuda
