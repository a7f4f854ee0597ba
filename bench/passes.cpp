// Memory-bound passes of a step (norm + activation, its gradient, concatenation, upsampling, Adam) as
// fractions of the memory's speed. Each row is a node on a 96^3 x 16 volume. CopyOfSameSize is a plain copy
// for comparison.
//
//   passes --benchmark_min_time=0.5
#include <benchmark/benchmark.h>

#include <cstring>

#include "net/backends/backend.h"
#include "net/backends/backends.h"
#include "net/graph/graph.h"

namespace voxswap {
namespace {

constexpr std::int64_t side = 96, channels = 16;

// A node's kernel with its own inputs, outputs and updates.
class Runner {
 public:
  Runner(const net::Graph& graph, net::NodeId id)
      : backend_(net::make_backend("onednn")), bytes_(net::node_bytes(graph, graph.node(id))) {
    const net::Node& node = graph.node(id);
    kernel_ = backend_->compile(graph, node);
    for (auto [ids, pointers] :
         {std::pair{&node.inputs, &inputs_}, {&node.outputs, &outputs_}, {&node.updates, &updates_}}) {
      for (net::ValueId value : *ids) pointers->push_back(memory(graph.value(value).bytes()));
    }
    workspace_ = memory(std::max<std::int64_t>(kernel_->workspace_bytes(), 64));
  }
  void run() { kernel_->run({inputs_, outputs_, updates_, workspace_, &context_}); }
  std::int64_t bytes() const { return bytes_; }

 private:
  void* memory(std::int64_t bytes) {
    memory_.push_back(backend_->allocate(bytes));
    std::memset(memory_.back()->data(), 0, static_cast<std::size_t>(bytes));
    return memory_.back()->data();
  }

  std::unique_ptr<net::Backend> backend_;
  std::unique_ptr<net::Kernel> kernel_;
  std::vector<std::unique_ptr<net::Memory>> memory_;
  std::vector<void*> inputs_, outputs_, updates_;
  void* workspace_ = nullptr;
  net::StepContext context_;
  std::int64_t bytes_;
};

const Shape volume = {1, side, side, side, channels}, vector = {channels}, pairs = {1, channels, 2};

void measure(benchmark::State& state, const char* operation, const std::vector<Shape>& shapes,
             const net::Attributes& attributes, const std::vector<Shape>& updates = {}) {
  net::Graph graph;
  std::vector<net::ValueId> inputs, updated;
  for (const Shape& shape : shapes)
    inputs.push_back(graph.add_value("x", shape, net::ElementType::f32, net::Role::input));
  for (const Shape& shape : updates)
    updated.push_back(graph.add_value("p", shape, net::ElementType::f32, net::Role::parameter));
  Runner runner(graph, graph.add(operation, "y", inputs, attributes, updated));
  for (auto _ : state) runner.run();
  state.SetBytesProcessed(state.iterations() * runner.bytes());
}

void CopyOfSameSize(benchmark::State& state) {
  const auto backend = net::make_backend("onednn");
  const std::int64_t bytes = volume.count() * 4;
  const auto from = backend->allocate(bytes), to = backend->allocate(bytes);
  std::memset(from->data(), 1, static_cast<std::size_t>(bytes));
  for (auto _ : state) {
    std::memcpy(to->data(), from->data(), static_cast<std::size_t>(bytes));
    benchmark::DoNotOptimize(to->data());
  }
  state.SetBytesProcessed(state.iterations() * 2 * bytes);
}

BENCHMARK(CopyOfSameSize)->UseRealTime();
BENCHMARK_CAPTURE(measure, instance_norm_statistics, "instance_norm_statistics", {volume},
                  net::Attributes{{"epsilon", 1e-5}})
    ->UseRealTime();
BENCHMARK_CAPTURE(measure, norm_activation, "norm_activation", {volume, pairs, vector, vector},
                  net::Attributes{{"slope", 0.3}})
    ->UseRealTime();
BENCHMARK_CAPTURE(measure, norm_activation_sums, "norm_activation_sums",
                  {volume, pairs, vector, vector, volume}, net::Attributes{{"slope", 0.3}})
    ->UseRealTime();
BENCHMARK_CAPTURE(measure, norm_activation_gradient, "norm_activation_gradient",
                  {volume, pairs, vector, vector, volume, pairs},
                  net::Attributes{{"slope", 0.3}, {"voxels", static_cast<double>(side* side* side)}})
    ->UseRealTime();
BENCHMARK_CAPTURE(measure, concat, "concat", {volume, volume}, net::Attributes{{"axis", 4}})->UseRealTime();
BENCHMARK_CAPTURE(measure, upsample_nearest, "upsample_nearest",
                  {Shape{1, side / 2, side / 2, side / 2, channels}}, net::Attributes{})
    ->UseRealTime();
BENCHMARK_CAPTURE(measure, adam, "adam", {volume},
                  net::Attributes{{"beta1", 0.9}, {"beta2", 0.999}, {"epsilon", 1e-7}, {"weight_decay", 0}},
                  {volume, volume, volume})
    ->UseRealTime();

}  // namespace
}  // namespace voxswap

BENCHMARK_MAIN();
