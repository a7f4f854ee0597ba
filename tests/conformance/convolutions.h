// Convolutions of any geometry as cases of their operations, and backends that compute them with our own
// kernels.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "net/backends/convolution/instruction_set.h"
#include "net/graph/axes.h"
#include "tests/conformance/agreement.h"
#include "tests/conformance/tiles_alone.h"
#include "tests/environment.h"
#include "tests/trapped_tiles.h"

namespace voxswap::net {

struct Sized {
  Shape x;
  std::int64_t outputs = 1;
  KernelAxes axes;
};

// A case of a convolution, with or without a sum, or of one of its gradients. By default, a weight gradient
// has a bias if the number of outputs is odd.
inline OperationCase case_of(std::string_view operation, const Sized& size,
                             std::optional<bool> bias = std::nullopt) {
  using Kind = OperationCase::Input::Kind;
  const KernelAxes& axes = size.axes;
  const OperationCase::Input x = {size.x}, y = {output_shape(size.x, axes, size.outputs)},
                             w = {{size.outputs, size.x[4], axes[0].kernel, axes[1].kernel, axes[2].kernel},
                                  Fill::normal,
                                  Kind::full};
  OperationCase result{"sized", {x, w}, attributes_of(axes), {}};
  if (operation == "conv3d_sum") result.inputs.push_back(y);
  if (operation == "conv3d_data_gradient") {
    result.inputs[0] = y;
    result.attributes.set("d", static_cast<double>(size.x[1]));
    result.attributes.set("h", static_cast<double>(size.x[2]));
    result.attributes.set("w", static_cast<double>(size.x[3]));
  }
  if (operation == "conv3d_weight_gradient") {
    result.inputs[1] = y;
    set_kernel(result.attributes, axes);
    result.attributes.set("bias", bias.value_or(size.outputs % 2 != 0) ? 1 : 0);
  }
  return result;
}

// Convolutions with this implementation, while it exists.
struct Forced : test::Environment {
  explicit Forced(std::string_view convolutions)
      : Environment("VOXSWAP_CONVOLUTIONS", std::string(convolutions)) {}
};

// A backend whose convolutions use these instructions. Tiles that the processor lacks are emulated or
// trapped, in a backend that supports nothing else.
class ByInstructions {
 public:
  explicit ByInstructions(convolution::Instructions instructions)
      : is_trapped_(instructions == convolution::Instructions::amx && TrappedTiles::work_here()),
        is_alone_(is_trapped_ || instructions == convolution::Instructions::emulated_amx),
        forced_(is_alone_ || !is_here(instructions) ? "" : convolution::instructions_name(instructions)),
        trapped_(is_trapped_ ? std::make_unique<TrappedTiles>() : nullptr),
        backend_(is_alone_ ? std::make_unique<TilesAlone>(instructions) : make_backend("onednn")) {}

  static bool is_here(convolution::Instructions instructions) {
    const auto here = convolution::instructions_for(ElementType::bf16);
    return std::find(here.begin(), here.end(), instructions) != here.end();
  }
  Backend& backend() const { return *backend_; }
  bool is_alone() const { return is_alone_; }
  bool compiles(const CaseGraph& graph) const {
    return !is_alone_ || TilesAlone::compiles(graph.graph, graph.graph.node(graph.node));
  }

 private:
  const bool is_trapped_, is_alone_;
  const Forced forced_;
  const std::unique_ptr<TrappedTiles> trapped_;
  const std::unique_ptr<Backend> backend_;
};

}  // namespace voxswap::net
