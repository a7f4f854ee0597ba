// Guards for debug runs (poison.h): the bytes behind a kernel's workspace are filled before the kernel,
// copied out after it and checked after the step. A library that writes beyond its workspace is reported
// instead of corrupting other values.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "net/backends/backend.h"
#include "net/graph/graph.h"
#include "swap/execute/poison.h"
#include "swap/execute/resolved_step.h"
#include "swap/plan/plan.h"

namespace voxswap::swap {

class WorkspaceGuards {
 public:
  // REQUIRES: `step` was resolved from `plan`.
  WorkspaceGuards(CompiledGraph& compiled, const Plan& plan, const ResolvedStep& step);

  // Call before and after the kernel of an instruction, on its stream. Does nothing without a workspace.
  void fill(net::Stream& stream, std::size_t instruction, const Poison& poison) const;
  void copy_out(net::Stream& stream, std::size_t instruction) const;
  // Call after the step. Throws Exit::failed with the node that wrote beyond its workspace.
  void check() const;

 private:
  struct Guard {
    std::byte* device = nullptr;  // null: none
    std::byte* host = nullptr;
    net::NodeId node = net::none;
  };
  const net::Graph& graph_;
  const std::vector<ByteRange> range_ = {{0, guard_bytes}};  // a step allocates nothing
  std::vector<Guard> guards_;                                // by instruction
  std::unique_ptr<net::Memory> seen_;
};

}  // namespace voxswap::swap
