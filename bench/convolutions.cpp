// Time of every convolution of an isensee2017 training step and its gradients, with oneDNN and with our own
// kernels. Both take turns on one thread; the shortest processor time of each counts. For comparison it
// prints the processor's peak: products in registers, a matrix product, and copying memory. two_threads_ms is
// the wall time of our kernels on two threads, valid only on an idle machine.
//
//   convolutions SIDE f32|bf16 ROUNDS [WHICH]     one line of CSV for each
//
// WHICH: only convolutions whose operation and shapes contain this text. The environment variable
// VOXSWAP_CONVOLUTIONS selects the instruction set of our kernels. Ratios are also valid on a busy machine.
#include <omp.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <set>

#include "base/error.h"
#include "base/philox.h"
#include "base/text.h"
#include "bench/limits.h"
#include "net/backends/backends.h"
#include "net/graph/graph.h"
#include "net/graph/operation.h"
#include "net/steps/step.h"

namespace voxswap {
namespace {

// A single node with its own memory.
class Alone {
 public:
  Alone(net::Backend& backend, const net::Graph& step, const net::Node& of, const char* convolutions) {
    std::map<net::ValueId, net::ValueId> made;
    std::vector<net::ValueId> inputs;
    for (const net::ValueId id : of.inputs) {
      const net::Value& value = step.value(id);
      const auto [place, is_new] = made.try_emplace(id);
      if (is_new) place->second = graph_.add_value(value.name, value.shape, value.type, value.role);
      inputs.push_back(place->second);
    }
    const net::NodeId id = graph_.add(of.operation->name, of.name, inputs, of.attributes);
    ::setenv("VOXSWAP_CONVOLUTIONS", convolutions, 1);
    kernel_ = backend.compile(graph_, graph_.node(id));
    for (const net::Value& value : graph_.values()) memory_.push_back(filled(backend, value));
    memory_.push_back(backend.allocate(std::max<std::int64_t>(kernel_->workspace_bytes(), 64)));
    for (const net::ValueId value : graph_.node(id).inputs) inputs_.push_back(data(value));
    for (const net::ValueId value : graph_.node(id).outputs) outputs_.push_back(data(value));
  }
  double seconds(clockid_t clock, int threads) {
    omp_set_num_threads(threads);
    timespec before{}, after{};
    clock_gettime(clock, &before);
    const net::StepContext context;
    kernel_->run({inputs_, outputs_, {}, memory_.back()->data(), &context});
    clock_gettime(clock, &after);
    omp_set_num_threads(1);
    return static_cast<double>(after.tv_sec - before.tv_sec) +
           1e-9 * static_cast<double>(after.tv_nsec - before.tv_nsec);
  }
  const net::Kernel& kernel() const { return *kernel_; }

 private:
  static std::unique_ptr<net::Memory> filled(net::Backend& backend, const net::Value& value) {
    std::unique_ptr<net::Memory> memory = backend.allocate(value.bytes());
    const Philox random(1, static_cast<std::uint64_t>(value.bytes()));
    for (std::int64_t i = 0; i < value.shape.count(); ++i) {
      const float number = 2 * random.uniform(static_cast<std::uint64_t>(i)) - 1;
      std::uint32_t bits = 0;
      std::memcpy(&bits, &number, sizeof bits);
      if (value.type == net::ElementType::bf16) bits >>= 16;
      const auto size = static_cast<std::size_t>(net::element_bytes(value.type));
      std::memcpy(memory->data() + static_cast<std::size_t>(i) * size, &bits, size);
    }
    return memory;
  }
  void* data(net::ValueId id) { return memory_[static_cast<std::size_t>(id)]->data(); }

  net::Graph graph_;
  std::unique_ptr<net::Kernel> kernel_;
  std::vector<std::unique_ptr<net::Memory>> memory_;
  std::vector<void*> inputs_, outputs_;
};

std::string shapes(const net::Graph& graph, const net::Node& node) {
  std::string text;
  for (const net::ValueId id : node.inputs) text += graph.value(id).shape.text() + " ";
  return text + "to " + graph.value(node.outputs[0]).shape.text();
}

void measure(net::Backend& backend, const net::Graph& graph, const net::Node& node, int count, int rounds,
             const std::string& convolutions) {
  Alone library(backend, graph, node, "library"), own(backend, graph, node, convolutions.c_str());
  double of_library = 1e30, of_own = 1e30, of_two = 1e30;
  for (int round = 0; round < rounds; ++round) {
    of_library = std::min(of_library, library.seconds(CLOCK_PROCESS_CPUTIME_ID, 1));
    of_own = std::min(of_own, own.seconds(CLOCK_PROCESS_CPUTIME_ID, 1));
    of_two = std::min(of_two, own.seconds(CLOCK_MONOTONIC, 2));
  }
  const double flops = net::node_flops(graph, node);
  std::printf("%s,%s,%d,%.3f,%.3f,%.3f,%.3f,%.1f,%.1f,%.2f,%lld,%lld,%s,%s\n",
              std::string(node.operation->name).c_str(), shapes(graph, node).c_str(), count, flops * 1e-9,
              of_library * 1e3, of_own * 1e3, of_two * 1e3, flops / of_library * 1e-9, flops / of_own * 1e-9,
              of_library / of_own, static_cast<long long>(library.kernel().workspace_bytes() / 1024),
              static_cast<long long>(own.kernel().workspace_bytes() / 1024),
              library.kernel().implementation().c_str(), own.kernel().implementation().c_str());
  std::fflush(stdout);
}

void measure_all(std::int64_t side, const std::string& precision, int rounds, const std::string& only) {
  const char* const wanted = std::getenv("VOXSWAP_CONVOLUTIONS");
  const std::string convolutions = wanted == nullptr ? "" : wanted;
  const auto backend = net::make_backend("onednn");
  net::StepOptions options;
  options.input = Shape{1, side, side, side, 4};
  options.activations = net::parse_element_type(precision);
  const net::TrainingStep step = net::build_training_step(options);
  const bench::Limits limits = bench::measure_limits();
  std::printf("# %s; products %.0f GFLOP/s in f32, %.0f in bf16; copies %.1f GB/s, read and written\n",
              bench::processor_name().c_str(), limits.f32 * 1e-9, limits.bf16 * 1e-9, limits.copy * 1e-9);
  std::printf(
      "operation,shapes,nodes,gflop,library_ms,ms,two_threads_ms,library_gflops,gflops,ratio,library_kib,kib,"
      "library_by,"
      "by\n");
  std::map<std::string, std::pair<net::NodeId, int>> different;  // one of each, with its count
  for (std::size_t id = 0; id < step.graph.nodes().size(); ++id) {
    const net::Node& node = step.graph.nodes()[id];
    if (node.operation->name.find("conv3d") == std::string_view::npos) continue;
    const std::string name = std::string(node.operation->name) + " " + shapes(step.graph, node);
    if (name.find(only) == std::string::npos) continue;
    ++different.try_emplace(name, static_cast<net::NodeId>(id), 0).first->second.second;
  }
  for (const auto& [name, node] : different)
    measure(*backend, step.graph, step.graph.node(node.first), node.second, rounds, convolutions);
}

}  // namespace
}  // namespace voxswap

int main(int count, char** arguments) {
  if (count < 4 || count > 5) {
    std::fprintf(stderr, "usage: convolutions SIDE f32|bf16 ROUNDS [WHICH]\n");
    return 2;
  }
  omp_set_num_threads(1);
  try {
    voxswap::measure_all(std::atoll(arguments[1]), arguments[2], std::max(1, std::atoi(arguments[3])),
                         count > 4 ? arguments[4] : "");
    return 0;
  } catch (const voxswap::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.exit());
  }
}
