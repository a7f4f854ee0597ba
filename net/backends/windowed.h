// Operations on windows of pieces (net/graph/window.h) for backends whose volumes are N,D,H,W,C in memory:
// planes of a sample lie one behind the other, so most of a window is a part of one piece and is read where
// it lies. Only around the borders between pieces a few planes are copied side by side.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "net/backends/backend.h"

namespace voxswap::net {

struct WindowedTools {
  std::function<std::unique_ptr<Kernel>(const Graph&, const Node&)> compile;  // of the inner operations
  std::function<void(void* to, const void* from, std::int64_t bytes)> copy;   // as a kernel copies
  std::int64_t alignment =
      1;  // bytes that the start of what the inner kernels read and make is a multiple of
};

std::unique_ptr<Kernel> make_windowed(const Graph& graph, const Node& node, const WindowedTools& tools);

}  // namespace voxswap::net
