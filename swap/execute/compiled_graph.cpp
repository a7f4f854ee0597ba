#include "swap/execute/compiled_graph.h"

#include <cassert>
#include <utility>

#include "net/graph/operation.h"

namespace voxswap::swap {

CompiledGraph::CompiledGraph(net::Backend& backend, net::Graph graph, net::Exchange* exchange)
    : backend_(&backend),
      exchanges_on_host_(exchange == nullptr || exchange->on_host()),
      graph_(std::move(graph)) {
  for (const net::Node& node : graph_.nodes()) {
    const bool exchanges = net::is_exchange(node);
    assert((!exchanges || exchange != nullptr) && "a graph for several ranks needs a communicator");
    kernels_.push_back(exchanges ? exchange->make_kernel(graph_, node) : backend.compile(graph_, node));
    workspaces_.push_back(kernels_.back()->workspace_bytes());
  }
}

}  // namespace voxswap::swap
