// The table of this backend: operation name -> maker of its kernel. Convolutions are cuDNN's and cuBLAS's
// (convolution.cpp, matrix_product.cpp); everything else is our own (own_kernels.h, *.cu).
#pragma once

#include <memory>
#include <string_view>

#include "net/backends/backend.h"
#include "net/backends/cuda/device.h"

namespace voxswap::net::cuda {

using Maker = std::unique_ptr<Kernel> (*)(const Graph&, const Node&, Device&);

Maker find_maker(const Operation& operation);  // null: this backend has none

// own_kernels.cpp: the part of the table that needs no library.
Maker find_own_maker(std::string_view operation);  // null: none

// convolution.cpp
std::unique_ptr<Kernel> make_conv3d(const Graph&, const Node&, Device&);
std::unique_ptr<Kernel> make_conv3d_sum(const Graph&, const Node&, Device&);
std::unique_ptr<Kernel> make_conv3d_data_gradient(const Graph&, const Node&, Device&);
std::unique_ptr<Kernel> make_conv3d_weight_gradient(const Graph&, const Node&, Device&);

}  // namespace voxswap::net::cuda
