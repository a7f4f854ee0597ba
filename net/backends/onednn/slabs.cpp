#include <algorithm>
#include <map>
#include <tuple>

#include "net/backends/onednn/convolution.h"
#include "net/backends/onednn/kernels.h"
#include "net/backends/onednn/passes.h"
#include "net/graph/axes.h"
#include "net/graph/graph.h"
#include "net/graph/operation.h"

namespace voxswap::net::onednn {

namespace {

constexpr std::int64_t small_workspace = std::int64_t{32} << 20;
constexpr std::int64_t fewest_planes = 4;  // per slab: thinner ones would be mostly halo

std::int64_t plane_bytes(const Value& value) {
  const Shape& shape = value.shape;
  return shape[2] * shape[3] * shape[4] * element_bytes(value.type);
}

Shape with_planes(const Shape& shape, std::int64_t samples, std::int64_t planes) {
  return {samples, planes, shape[2], shape[3], shape[4]};
}

// Kernels for slabs of some shape, each made once.
using SlabShape = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // planes, padding before and after
class SlabKernels {
 public:
  template <class Make>
  Kernel* get(const SlabShape& shape, Make make) {
    std::unique_ptr<Kernel>& kernel = kernels_[shape];
    if (!kernel) kernel = make();
    workspace_ = std::max(workspace_, kernel->workspace_bytes());
    return kernel.get();
  }
  std::int64_t workspace_bytes() const { return workspace_; }
  std::string implementation() const { return "in slabs, " + kernels_.begin()->second->implementation(); }

 private:
  std::map<SlabShape, std::unique_ptr<Kernel>> kernels_;
  std::int64_t workspace_ = 0;
};

struct Slab {
  Kernel* kernel;
  std::int64_t first, second;  // bytes into the two volumes
};

const std::byte* shifted(const void* data, std::int64_t bytes) {
  return static_cast<const std::byte*>(data) + bytes;
}

class WeightGradientInSlabs final : public Kernel {
 public:
  WeightGradientInSlabs(const Graph& graph, const Node& node, std::int64_t count) {
    const Value &x = graph.value(node.inputs[0]), &dy = graph.value(node.inputs[1]);
    const Shape& w = graph.value(node.outputs[0]).shape;
    const KernelAxes axes = kernel_axes(node.attributes);
    const std::int64_t in_planes = x.shape[1], out_planes = dy.shape[1];
    for (std::int64_t sample = 0; sample < x.shape[0]; ++sample)
      for (std::int64_t i = 0; i < count; ++i) {
        // Planes [from, to) of dy read planes [low, high) of x; the part outside x is padding.
        const std::int64_t from = i * out_planes / count, to = (i + 1) * out_planes / count;
        const std::int64_t low = axes[0].start(from), high = axes[0].start(to - 1) + axes[0].reach();
        const std::int64_t before = std::max<std::int64_t>(-low, 0),
                           after = std::max<std::int64_t>(high - in_planes, 0);
        Kernel* kernel = kernels_.get({to - from, before, after}, [&] {
          KernelAxes of_slab = axes;
          of_slab[0].before = before;
          of_slab[0].behind = after;
          const Geometry g = geometry(with_planes(x.shape, 1, high - after - low - before),
                                      with_planes(dy.shape, 1, to - from), w, of_slab, x.type, node);
          return weight_gradient_kernel(g, x.type, node.attributes.flag("bias"), node);
        });
        slabs_.push_back({kernel, (sample * in_planes + low + before) * plane_bytes(x),
                          (sample * out_planes + from) * plane_bytes(dy)});
      }
    inner_ = plan_.book(kernels_.workspace_bytes());
    for (const ValueId id : node.outputs) {
      sizes_.push_back(graph.value(id).shape.count());
      parts_.push_back(plan_.book(graph.value(id).bytes()));
    }
  }
  std::int64_t workspace_bytes() const override { return plan_.bytes(); }
  std::string implementation() const override { return kernels_.implementation(); }

  void run(const KernelArguments& arguments) override {
    void* parts[2] = {};
    for (std::size_t i = 0; i < parts_.size(); ++i) parts[i] = place<std::byte>(arguments, parts_[i]);
    for (std::size_t s = 0; s < slabs_.size(); ++s) {
      const Slab& slab = slabs_[s];
      void* inputs[2] = {const_cast<std::byte*>(shifted(arguments.inputs[0], slab.first)),
                         const_cast<std::byte*>(shifted(arguments.inputs[1], slab.second))};
      KernelArguments part = arguments;
      part.inputs = inputs;
      part.workspace = place<std::byte>(arguments, inner_);
      if (s > 0) part.outputs = {parts, parts_.size()};
      slab.kernel->run(part);
      for (std::size_t i = 0; s > 0 && i < parts_.size(); ++i) {
        auto* sum = static_cast<float*>(arguments.outputs[i]);
        const auto* add = static_cast<const float*>(parts[i]);
        for (std::int64_t k = 0; k < sizes_[i]; ++k) sum[k] += add[k];
      }
    }
  }

 private:
  WorkspacePlan plan_;
  SlabKernels kernels_;
  std::vector<Slab> slabs_;
  std::vector<std::int64_t> sizes_, parts_;  // of dw and db: elements, and offsets of a slab's part
  std::int64_t inner_ = 0;
};

// With a kernel of 1^3, planes are independent, also across samples.
class PointwiseDataGradientInSlabs final : public Kernel {
 public:
  PointwiseDataGradientInSlabs(const Graph& graph, const Node& node, std::int64_t count) {
    const Value &dy = graph.value(node.inputs[0]), &dx = graph.value(node.outputs[0]);
    const Shape& w = graph.value(node.inputs[1]).shape;
    const std::int64_t planes = dy.shape[0] * dy.shape[1];
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t from = i * planes / count, to = (i + 1) * planes / count;
      Kernel* kernel = kernels_.get({to - from, 0, 0}, [&] {
        const Shape out = with_planes(dx.shape, 1, to - from);
        return data_gradient_kernel(
            geometry(out, with_planes(dy.shape, 1, to - from), w, KernelAxes{}, dy.type, node), out, dy.type,
            node.inputs.size() > 2, node);
      });
      slabs_.push_back({kernel, from * plane_bytes(dy), from * plane_bytes(dx)});
    }
    inputs_.resize(node.inputs.size());
  }
  std::int64_t workspace_bytes() const override { return kernels_.workspace_bytes(); }
  std::string implementation() const override { return kernels_.implementation(); }

  void run(const KernelArguments& arguments) override {
    std::copy(arguments.inputs.begin(), arguments.inputs.end(), inputs_.begin());
    for (const Slab& slab : slabs_) {
      inputs_[0] = const_cast<std::byte*>(shifted(arguments.inputs[0], slab.first));
      void* output = static_cast<std::byte*>(arguments.outputs[0]) + slab.second;
      KernelArguments part = arguments;
      part.inputs = inputs_;
      part.outputs = {&output, 1};
      slab.kernel->run(part);
    }
  }

 private:
  SlabKernels kernels_;
  std::vector<Slab> slabs_;
  std::vector<void*> inputs_;
};

}  // namespace

std::int64_t slab_count(const Graph& graph, const Node& node, std::int64_t workspace) {
  const Shape& first = graph.value(node.inputs[0]).shape;
  std::int64_t planes = graph.value(node.inputs[1]).shape[1];  // of dy
  if (node.operation->name == "conv3d_data_gradient") {
    if (!is_pointwise(kernel_axes(node.attributes, graph.value(node.inputs[1]).shape))) return 1;
    planes = first[0] * first[1];
  } else if (kernel_axes(node.attributes)[0].stride != 1) {
    return 1;
  }
  std::int64_t read = 0;
  for (const ValueId id : node.inputs) read += graph.value(id).bytes();
  const std::int64_t allowed = std::max(small_workspace, read / 8);
  const std::int64_t wanted = (workspace + allowed - 1) / allowed;
  return std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(planes / fewest_planes, 1));
}

std::int64_t fewest_slabs(const Graph& graph, const Node& node) {
  const Value &x = graph.value(node.inputs[0]), &dy = graph.value(node.inputs[1]);
  const KernelAxis depth = kernel_axes(node.attributes)[0];
  const std::int64_t read =
      most_planes(x.shape[2], x.shape[3], x.type);  // of x; so many are reached for one of dy
  const std::int64_t planes =
      std::min(most_planes(dy.shape[2], dy.shape[3], dy.type), (read - depth.reach()) / depth.stride + 1);
  const std::int64_t all = dy.shape[1];
  return planes < 1 ? all : (all + planes - 1) / planes;
}

std::unique_ptr<Kernel> weight_gradient_in_slabs(const Graph& graph, const Node& node, std::int64_t count) {
  return std::make_unique<WeightGradientInSlabs>(graph, node, count);
}

std::unique_ptr<Kernel> data_gradient_in_slabs(const Graph& graph, const Node& node, std::int64_t count) {
  return std::make_unique<PointwiseDataGradientInSlabs>(graph, node, count);
}

}  // namespace voxswap::net::onednn
