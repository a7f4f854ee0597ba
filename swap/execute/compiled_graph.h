// Kernels for every node of a graph, compiled before planning because the plan contains their workspaces.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "net/backends/backend.h"
#include "net/collective/exchange.h"

namespace voxswap::swap {

class CompiledGraph {
 public:
  // `exchange`: makes the kernels of exchanges, of which a graph for one rank has none.
  CompiledGraph(net::Backend& backend, net::Graph graph, net::Exchange* exchange = nullptr);
  const net::Graph& graph() const { return graph_; }
  const std::vector<std::int64_t>& workspaces() const { return workspaces_; }
  net::Kernel& kernel(net::NodeId node) { return *kernels_[static_cast<std::size_t>(node)]; }
  net::Backend& backend() { return *backend_; }
  bool exchanges_on_host() const { return exchanges_on_host_; }  // for a host stream

 private:
  net::Backend* backend_;
  bool exchanges_on_host_;
  net::Graph graph_;
  std::vector<std::unique_ptr<net::Kernel>> kernels_;
  std::vector<std::int64_t> workspaces_;
};

}  // namespace voxswap::swap
