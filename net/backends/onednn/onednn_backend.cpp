// The backend: its table of kernels, memory and streams of the CPU, and what oneDNN reports about itself.
#include <omp.h>

#include <dnnl.hpp>

#include "base/parallel.h"
#include "base/text.h"
#include "net/backends/backend.h"
#include "net/backends/backends.h"
#include "net/backends/convolution/instruction_set.h"
#include "net/backends/cpu/host_device.h"
#include "net/backends/onednn/kernels.h"
#include "net/backends/onednn/passes.h"
#include "net/backends/windowed.h"
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
  // OpenMP counts the cores of the CPU affinity; threads beyond the cgroup's share would only wait.
  const int cores = static_cast<int>(usable_core_count());
  if (cores < omp_get_max_threads() && core_quota()) omp_set_num_threads(cores);
  return std::make_unique<OnednnBackend>();
}

OneCore::OneCore() : before_(omp_get_max_threads()) {
  omp_set_num_threads(1);
}
OneCore::~OneCore() {
  omp_set_num_threads(before_);
}

namespace onednn {

std::string library_version() {
  const dnnl_version_t* version = dnnl_version();
  return format("{}.{}.{}", version->major, version->minor, version->patch);
}

std::string instruction_set_name() {
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::sse41:
      return "SSE4.1";
    case dnnl::cpu_isa::avx:
      return "AVX";
    case dnnl::cpu_isa::avx2:
      return "AVX2";
    case dnnl::cpu_isa::avx2_vnni:
      return "AVX2 with VNNI";
    case dnnl::cpu_isa::avx512_core:
      return "AVX-512";
    case dnnl::cpu_isa::avx512_core_vnni:
      return "AVX-512 with VNNI";
    case dnnl::cpu_isa::avx512_core_bf16:
      return "AVX-512 with BF16";
    case dnnl::cpu_isa::avx512_core_amx:
      return "AVX-512 with AMX";
    default:
      return "baseline instructions";
  }
}

bool has_native_bf16() {
  const dnnl::cpu_isa isa = dnnl::get_effective_cpu_isa();
  return isa == dnnl::cpu_isa::avx512_core_bf16 || isa == dnnl::cpu_isa::avx512_core_amx;
}

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

}  // namespace onednn

}  // namespace voxswap::net
