#include "tests/cuda_emulation/emulated_backend.h"

#include "net/backends/backends.h"
#include "net/backends/cpu/host_device.h"
#include "net/backends/cuda/kernels.h"
#include "net/graph/graph.h"
#include "net/graph/operation.h"

namespace voxswap::net {

namespace {

class EmulatedBackend final : public HostBackend {
 public:
  EmulatedBackend() { device_.enough_blocks = 4; }  // gives small volumes several rows per thread
  std::string name() const override { return "cuda_emulation"; }
  std::string description() const override { return "the CUDA backend's own kernels, on the CPU"; }
  bool supports(ElementType type) const override {
    return type == ElementType::f32 || type == ElementType::bf16 || type == ElementType::f16;
  }
  ElementType fastest_type() const override { return ElementType::f32; }
  std::unique_ptr<Kernel> compile(const Graph& graph, const Node& node) override {
    const cuda::Maker maker = cuda::find_own_maker(node.operation->name);
    return maker != nullptr ? maker(graph, node, device_) : reference_->compile(graph, node);
  }

 private:
  cuda::Device device_;
  std::unique_ptr<Backend> reference_ = make_reference_backend();
};

}  // namespace

std::unique_ptr<Backend> make_emulated_cuda_backend() {
  return std::make_unique<EmulatedBackend>();
}

}  // namespace voxswap::net
