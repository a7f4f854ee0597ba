// The table of this backend.
#include "net/backends/onednn/kernels.h"

#include "net/backends/onednn/copies.h"
#include "net/backends/onednn/own_convolutions.h"
#include "net/backends/reference/reference_backend.h"
#include "net/backends/windowed.h"
#include "net/graph/operation.h"

namespace voxswap::net::onednn {

namespace {

struct Row {
  std::string_view operation;
  Maker maker;
};

#define ROW(operation) Row{#operation, make_##operation},
constexpr Row table[] = {VOXSWAP_ONEDNN_KERNELS(ROW)};
#undef ROW

std::unique_ptr<Kernel> make_on_windows(const Graph& graph, const Node& node) {
  const auto compile = [](const Graph& inner, const Node& of) {
    return find_maker(*of.operation)(inner, of);
  };
  if (node.operation->inner().name == "conv3d_weight_gradient")
    if (std::unique_ptr<Kernel> own = own_weight_gradient(graph, node)) return own;
  return make_windowed(graph, node, {compile, copy});
}

}  // namespace

Maker find_maker(const Operation& operation) {
  if (operation.inner != nullptr) return make_on_windows;
  for (const Row& row : table) {
    if (row.operation == operation.name) return row.maker;
  }
  return by_reference;
}

std::unique_ptr<Kernel> by_reference(const Graph& graph, const Node& node) {
  return make_reference_backend()->compile(graph, node);
}

}  // namespace voxswap::net::onednn
