// bf16 convolutions on a CPU without bf16 instructions: inputs are widened into the workspace, the f32 kernel
// runs, and its output is rounded. This adds two passes over memory, while the library's own emulation takes
// about three times as long as its f32 kernels there.
#include "net/backends/onednn/kernels.h"
#include "net/backends/onednn/passes.h"
#include "net/graph/operation.h"

namespace voxswap::net::onednn {

namespace {

class ThroughF32 final : public Kernel {
 public:
  ThroughF32(const Graph& graph, const Node& node, Maker maker) {
    Graph wide;  // the same node in f32, between casts
    std::vector<ValueId> inputs;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const Value& value = graph.value(node.inputs[i]);
      ValueId id = wide.add_value(value.name, value.shape, value.type, Role::input);
      if (value.type == ElementType::bf16) id = add_cast(wide, id, ElementType::f32, i, widen_);
      inputs.push_back(id);
    }
    const NodeId id = wide.add(node.operation->name, node.name, inputs, node.attributes);
    kernel_ = maker(wide, wide.node(id));
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (graph.value(node.outputs[i]).type != ElementType::bf16) continue;
      add_cast(wide, wide.node(id).outputs[i], ElementType::bf16, i, round_);
    }
    inputs_.resize(node.inputs.size());
    outputs_.resize(node.outputs.size());
    inner_ = plan_.book(kernel_->workspace_bytes());
  }
  std::int64_t workspace_bytes() const override { return plan_.bytes(); }
  std::string implementation() const override { return "through f32, " + kernel_->implementation(); }

  void run(const KernelArguments& arguments) override {
    std::copy(arguments.inputs.begin(), arguments.inputs.end(), inputs_.begin());
    std::copy(arguments.outputs.begin(), arguments.outputs.end(), outputs_.begin());
    for (Cast& cast : widen_) {
      inputs_[cast.argument] = place<std::byte>(arguments, cast.place);
      run_cast(cast, arguments.inputs[cast.argument], inputs_[cast.argument], arguments);
    }
    for (const Cast& cast : round_) outputs_[cast.argument] = place<std::byte>(arguments, cast.place);
    kernel_->run({inputs_, outputs_, {}, place<std::byte>(arguments, inner_), arguments.context});
    for (Cast& cast : round_) {
      run_cast(cast, outputs_[cast.argument], arguments.outputs[cast.argument], arguments);
    }
  }

 private:
  struct Cast {
    std::size_t argument = 0;  // index of the input or output of the node
    std::int64_t place = 0;    // offset of the f32 copy in the workspace
    std::unique_ptr<Kernel> kernel;
  };

  ValueId add_cast(Graph& wide, ValueId from, ElementType type, std::size_t argument,
                   std::vector<Cast>& casts) {
    const NodeId id = wide.add("cast", "cast", {from}, {{"type", static_cast<double>(type)}});
    const std::int64_t bytes = wide.value(from).shape.count() * element_bytes(ElementType::f32);
    casts.push_back({argument, plan_.book(bytes), make_cast(wide, wide.node(id))});
    return wide.node(id).outputs[0];
  }
  static void run_cast(Cast& cast, void* from, void* to, const KernelArguments& arguments) {
    cast.kernel->run({{&from, 1}, {&to, 1}, {}, nullptr, arguments.context});
  }

  WorkspacePlan plan_;
  std::vector<Cast> widen_, round_;
  std::unique_ptr<Kernel> kernel_;
  std::vector<void*> inputs_, outputs_;
  std::int64_t inner_ = 0;
};

}  // namespace

bool needs_upcast(ElementType type) {
  return type == ElementType::bf16 && !has_native_bf16();
}

std::unique_ptr<Kernel> upcast(const Graph& graph, const Node& node, Maker maker) {
  return std::make_unique<ThroughF32>(graph, node, maker);
}

}  // namespace voxswap::net::onednn
