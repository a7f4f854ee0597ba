// Windowed operations (net/graph/window.h) for backends with volumes N,D,H,W,C in memory. Planes of a sample
// are contiguous, so most of a window is part of one slab and is read in place. Only a few planes around slab
// boundaries are copied.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "net/backends/backend.h"

namespace voxswap::net {

struct WindowedTools {
  std::function<std::unique_ptr<Kernel>(const Graph&, const Node&)> compile;  // of inner operations
  std::function<void(void* to, const void* from, std::int64_t bytes)> copy;   // a copy inside a kernel
  std::int64_t alignment = 1;  // alignment in bytes of inputs and outputs of inner kernels
};

std::unique_ptr<Kernel> make_windowed(const Graph& graph, const Node& node, const WindowedTools& tools);

}  // namespace voxswap::net
