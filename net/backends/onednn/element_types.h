// Dispatch from a run-time element type to a template argument.
#pragma once

#include <memory>

#include "base/error.h"
#include "net/backends/function_kernel.h"
#include "net/backends/onednn/lanes.h"

namespace voxswap::net::onednn {

// Calls make(T{}) with T = float or Bf16.
template <class Make>
std::unique_ptr<Kernel> for_type(ElementType type, const Node& node, Make make) {
  if (type == ElementType::f32) return make(float{});
  if (type == ElementType::bf16) return make(Bf16{});
  fail(Exit::failed, "node {}: the onednn backend supports f32 and bf16, not {}", node.name,
       element_name(type));
}

}  // namespace voxswap::net::onednn
