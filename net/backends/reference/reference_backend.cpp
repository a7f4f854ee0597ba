// The reference backend: a kernel converts its inputs to double, runs the operation's routine, and rounds the
// result.
#include <optional>
#include <utility>

#include "net/backends/backends.h"
#include "net/backends/cpu/host_device.h"
#include "net/backends/reference/elements.h"
#include "net/backends/reference/kernels.h"
#include "net/backends/reference/windowed.h"
#include "net/graph/graph.h"
#include "net/graph/operation.h"

namespace voxswap::net {

namespace reference {

namespace {

struct Row {
  std::string_view operation;
  Routine routine;
};

#define ROW(operation) Row{#operation, operation},
constexpr Row table[] = {VOXSWAP_OPERATIONS(ROW)};
#undef ROW

}  // namespace

Routine find_routine(std::string_view operation) {
  for (const Row& row : table) {
    if (row.operation == operation) return row.routine;
  }
  return nullptr;
}

Extents extents(const Shape& shape) {
  const std::int64_t samples = shape[0], channels = shape[-1];
  return {samples, shape.count() / (samples * channels), channels};
}

}  // namespace reference

namespace {

using reference::Array;

// Every array is stored as doubles in the workspace: inputs, outputs, updates, then the copy of a window.
class ReferenceKernel final : public Kernel {
 public:
  ReferenceKernel(const Graph& graph, const Node& node, reference::Routine routine) : routine_(routine) {
    call_.attributes = node.attributes;
    const auto describe = [&](const std::vector<ValueId>& ids, std::vector<Array>& arrays,
                              std::vector<ElementType>& types) {
      for (ValueId id : ids) {
        arrays.push_back({nullptr, graph.value(id).shape});
        types.push_back(graph.value(id).type);
        doubles_ += graph.value(id).shape.count();
      }
    };
    describe(node.inputs, call_.inputs, input_types_);
    describe(node.outputs, call_.outputs, output_types_);
    describe(node.updates, call_.updates, update_types_);
    if (node.operation->inner == nullptr) return;
    window_.emplace(graph, node);
    doubles_ += window_->doubles();
  }

  std::int64_t workspace_bytes() const override {
    return doubles_ * static_cast<std::int64_t>(sizeof(double));
  }
  std::string implementation() const override { return "plain loops in double"; }

  void run(const KernelArguments& arguments) override {
    call_.context = arguments.context;
    auto* place = static_cast<double*>(arguments.workspace);
    for (auto* arrays : {&call_.inputs, &call_.outputs, &call_.updates}) {
      for (Array& array : *arrays) {
        array.data = place;
        place += array.shape.count();
      }
    }
    load(call_.inputs, arguments.inputs, input_types_);
    load(call_.updates, arguments.updates, update_types_);
    if (window_) {
      window_->run(call_, place);
    } else {
      routine_(call_);
    }
    store(call_.outputs, arguments.outputs, output_types_);
    store(call_.updates, arguments.updates, update_types_);
  }

 private:
  using Places = std::span<void* const>;
  static void load(const std::vector<Array>& arrays, Places places, const std::vector<ElementType>& types) {
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      load_elements(arrays[i].data, places[i], types[i], arrays[i].shape.count());
    }
  }
  static void store(const std::vector<Array>& arrays, Places places, const std::vector<ElementType>& types) {
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      store_elements(places[i], arrays[i].data, types[i], arrays[i].shape.count());
    }
  }

  reference::Routine routine_;
  std::optional<reference::WindowCopy> window_;
  reference::Call call_;
  std::vector<ElementType> input_types_, output_types_, update_types_;
  std::int64_t doubles_ = 0;
};

class ReferenceBackend final : public HostBackend {
 public:
  std::string name() const override { return "reference"; }
  std::string description() const override { return "plain loops that accumulate in double"; }
  bool supports(ElementType type) const override { return type != ElementType::u8; }
  ElementType fastest_type() const override { return ElementType::f32; }
  std::unique_ptr<Kernel> compile(const Graph& graph, const Node& node) override {
    return std::make_unique<ReferenceKernel>(graph, node, reference::find_routine(node.operation->name));
  }
};

}  // namespace

std::unique_ptr<Backend> make_reference_backend() {
  return std::make_unique<ReferenceBackend>();
}

}  // namespace voxswap::net
