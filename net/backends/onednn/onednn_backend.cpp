// The backend: kernels from the table, memory and streams of the CPU.
#include "net/backends/onednn/onednn_backend.h"

#include <omp.h>

#include "base/counts.h"
#include "base/text.h"
#include "net/backends/convolution/instruction_set.h"
#include "net/backends/cpu/host_device.h"
#include "net/backends/device_features.h"
#include "net/backends/onednn/convolution_moments.h"
#include "net/backends/onednn/kernels.h"
#include "net/backends/onednn/library.h"
#include "net/backends/onednn/own_convolutions.h"
#include "net/graph/graph.h"
#include "net/graph/operation.h"

namespace voxswap::net {

namespace {

class OnednnBackend final : public HostBackend, public SummingBackend {
 public:
  std::string name() const override { return "onednn"; }
  std::string description() const override {
    const auto own = convolution::chosen_instructions(ElementType::bf16);
    return format("oneDNN {}, {}, own convolutions: {}, {}", onednn::library_version(),
                  onednn::instruction_set_name(), own ? convolution::instructions_name(*own) : "none",
                  counted(omp_get_max_threads(), "thread"));
  }
  bool supports(ElementType type) const override {
    return type == ElementType::f32 || type == ElementType::bf16;
  }
  ElementType fastest_type() const override {
    return onednn::has_native_bf16() ? ElementType::bf16 : ElementType::f32;
  }
  std::unique_ptr<Kernel> compile(const Graph& graph, const Node& node) override {
    return onednn::find_maker(*node.operation)(graph, node);
  }
  bool sums_in_blocks(ElementType type) const override { return onednn::has_own_convolutions(type); }
  bool makes_moments(const Graph& graph, const Node& node) const override {
    return onednn::makes_moments(graph, node);
  }
};

}  // namespace

std::unique_ptr<Backend> make_onednn_backend() {
  return std::make_unique<OnednnBackend>();
}

}  // namespace voxswap::net
