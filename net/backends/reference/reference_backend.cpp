// The reference backend: a kernel converts its inputs to double, runs the operation's routine, and rounds the
// result. A windowed operation is the inner operation on a copy of the window in one array.
#include <algorithm>
#include <optional>
#include <utility>

#include "net/backends/backends.h"
#include "net/backends/cpu/host_device.h"
#include "net/backends/reference/elements.h"
#include "net/backends/reference/kernels.h"
#include "net/graph/graph.h"
#include "net/graph/operation.h"
#include "net/graph/window.h"

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

namespace {

// The inner operation of a windowed one, on copies of its windows. Faster implementations are tested against
// it.
class WindowCopy {
 public:
  WindowCopy(const Graph& graph, const Node& node);
  std::int64_t doubles() const;  // size of the copies
  // Copies the windows of `call` to `place` and runs the inner operation's routine.
  void run(const Call& call, double* place);

 private:
  void copy(const std::vector<Array>& inputs, std::size_t first, const Array& volume) const;

  Routine routine_;
  std::size_t others_, input_;
  std::int64_t skip_;
  std::vector<Array> volumes_;
  Call inner_;
};

WindowCopy::WindowCopy(const Graph& graph, const Node& node) {
  const Operation& inner = node.operation->inner();
  const Window window = window_of(inner, node.inputs, node.attributes);
  const Graph slab = slab_graph(graph, inner, node.inputs, node.attributes);
  routine_ = find_routine(inner.name);
  others_ = window.others.size();
  input_ = static_cast<std::size_t>(inner.cut.input);
  skip_ = window.skip;
  for (std::size_t i = 0; i < window.slabs.size(); ++i)
    volumes_.push_back({nullptr, slab.value(slab.node(0).inputs[input_ + i]).shape});
  inner_.attributes = slab.node(0).attributes;
}

std::int64_t WindowCopy::doubles() const {
  std::int64_t count = 0;
  for (const Array& volume : volumes_) count += volume.shape.count();
  return count;
}

// Copies from the slabs that begin with input `first`.
void WindowCopy::copy(const std::vector<Array>& inputs, std::size_t first, const Array& volume) const {
  const Shape& shape = volume.shape;
  const std::int64_t plane = shape.count_from(2);
  std::int64_t from = -skip_;  // first plane of the slab, relative to the window
  for (std::size_t i = first; from < shape[1]; ++i) {
    const Array& slab = inputs[i];
    const std::int64_t planes = slab.shape[1];
    for (std::int64_t n = 0; n < shape[0]; ++n)
      for (std::int64_t z = std::max<std::int64_t>(from, 0); z < std::min(from + planes, shape[1]); ++z)
        std::copy_n(slab.data + (n * planes + z - from) * plane, plane,
                    volume.data + (n * shape[1] + z) * plane);
    from += planes;
  }
}

void WindowCopy::run(const Call& call, double* place) {
  const std::size_t each = (call.inputs.size() - others_) / volumes_.size();
  inner_.inputs.assign(call.inputs.begin(), call.inputs.begin() + static_cast<std::ptrdiff_t>(others_));
  for (std::size_t i = 0; i < volumes_.size(); ++i) {
    Array& volume = volumes_[i];
    volume.data = place;
    place += volume.shape.count();
    copy(call.inputs, others_ + i * each, volume);
    inner_.inputs.insert(inner_.inputs.begin() + static_cast<std::ptrdiff_t>(input_ + i), volume);
  }
  inner_.outputs = call.outputs;
  inner_.context = call.context;
  routine_(inner_);
}

}  // namespace

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
