// Where the time of a training step of isensee2017 goes: every node run by itself, several times, its
// shortest time counted; a table by operation (share, GFLOP/s, GB/s) and one of the slowest nodes with the
// routine that runs them.
//
//   node_times SIDE f32|bf16 REPEATS
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "base/error.h"
#include "base/philox.h"
#include "net/operation.h"
#include "net/step.h"
#include "swap/executor.h"
#include "swap/planner.h"

namespace voxswap {
namespace {

struct Cost {
  double seconds = 0, flops = 0, bytes = 0;
  int nodes = 0;
};

// A planned step whose nodes can be run one at a time.
struct Profile {
  CompiledGraph compiled;
  Plan plan;
  std::unique_ptr<Memory> arena;
  std::vector<void*> places, workspaces;

  Profile(Backend& backend, const TrainingStep& step) : compiled(backend, step.graph) {
    PlanRequest request;
    request.graph = &compiled.graph();
    request.workspaces = compiled.workspaces();
    request.kept = {step.loss};
    plan = make_plan("keep", request);
    arena = backend.allocate(plan.peak_bytes);
    places.resize(compiled.graph().values().size());
    workspaces.resize(compiled.graph().nodes().size());
    for (const Residency& r : plan.residencies) {
      (r.value == none ? workspaces[static_cast<std::size_t>(r.node)]
                       : places[static_cast<std::size_t>(r.value)]) = arena->data() + r.offset;
    }
  }

  double seconds_of(NodeId id) {
    const Node& node = compiled.graph().node(id);
    const auto of = [&](const std::vector<ValueId>& values) {
      std::vector<void*> result;
      for (ValueId value : values) result.push_back(places[static_cast<std::size_t>(value)]);
      return result;
    };
    const std::vector<void*> inputs = of(node.inputs), outputs = of(node.outputs), updates = of(node.updates);
    const StepContext context{1, 1, 5e-4};
    const KernelArguments arguments{inputs, outputs, updates, workspaces[static_cast<std::size_t>(id)],
                                    &context};
    const auto start = std::chrono::steady_clock::now();
    compiled.kernel(id).run(arguments);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
};

// Random image, labels in stripes, initial weights: numbers as in training, so that no denormal slows a node
// down.
void fill(Profile& profile, const TrainingStep& step) {
  const Graph& graph = step.graph;
  for (std::size_t i = 0; i < step.parameters.size(); ++i) {
    const auto values = initial_value(graph, step.parameters[i], i, 1);
    std::copy(values.begin(), values.end(),
              static_cast<float*>(profile.places[static_cast<std::size_t>(step.parameters[i])]));
  }
  const Philox random(1, 2);
  const Value& image = graph.value(step.input);
  void* place = profile.places[static_cast<std::size_t>(step.input)];
  for (std::int64_t i = 0; i < image.shape.count(); ++i) {
    const float value = 2 * random.uniform(static_cast<std::uint64_t>(i)) - 1;
    std::uint32_t bits = 0;
    std::copy_n(reinterpret_cast<const std::byte*>(&value), 4, reinterpret_cast<std::byte*>(&bits));
    if (image.type == ElementType::f32)
      static_cast<float*>(place)[i] = value;
    else
      static_cast<std::uint16_t*>(place)[i] = static_cast<std::uint16_t>(bits >> 16);
  }
  auto* target = static_cast<std::uint8_t*>(profile.places[static_cast<std::size_t>(step.target)]);
  for (std::int64_t i = 0; i < graph.value(step.target).shape.count(); ++i)
    target[i] = (1u << (i / 64 % 4)) & 7u;
}

std::string sides(const Graph& graph, const Node& node) {
  std::string text;
  for (ValueId id : node.inputs) text += (text.empty() ? "" : " ") + graph.value(id).shape.text();
  return text;
}

std::vector<std::string> row(const std::string& name, const Cost& cost, double total) {
  return {name,
          std::to_string(cost.nodes),
          format("{:.2f}", cost.seconds * 1e3),
          format("{:.1f}", 100 * cost.seconds / total),
          format("{:.0f}", cost.flops / cost.seconds * 1e-9),
          format("{:.1f}", cost.bytes / cost.seconds * 1e-9)};
}

void measure(std::int64_t side, const std::string& precision, int repeats) {
  const auto backend = make_backend("onednn");
  StepOptions options;
  options.input = Shape{1, side, side, side, 4};
  options.activations = parse_element_type(precision);
  const TrainingStep step = build_training_step(options);
  Profile profile(*backend, step);
  const Graph& graph = profile.compiled.graph();
  const std::size_t count = graph.nodes().size();
  std::vector<double> best(count, 1e30);
  for (int repeat = 0; repeat < repeats; ++repeat) {  // inputs lie in places that the step uses again
    fill(profile, step);
    for (std::size_t id = 0; id < count; ++id)
      best[id] = std::min(best[id], profile.seconds_of(static_cast<NodeId>(id)));
  }
  std::map<std::string, Cost> operations;
  Cost all;
  for (std::size_t id = 0; id < count; ++id) {
    const Node& node = graph.nodes()[id];
    for (Cost* cost : {&operations[std::string(node.operation->name)], &all}) {
      cost->seconds += best[id], cost->nodes += 1;
      cost->flops += node_flops(graph, node), cost->bytes += static_cast<double>(node_bytes(graph, node));
    }
  }
  std::vector<std::pair<std::string, Cost>> sorted(operations.begin(), operations.end());
  std::sort(sorted.begin(), sorted.end(),
            [](auto& a, auto& b) { return a.second.seconds > b.second.seconds; });
  std::vector<std::vector<std::string>> rows = {{"operation", "nodes", "ms", "%", "GFLOP/s", "GB/s"}};
  for (const auto& [name, cost] : sorted) rows.push_back(row(name, cost, all.seconds));
  rows.push_back(row("all", all, all.seconds));
  std::printf("%s, %lld^3 %s, arena %.0f MB\n%s\n", backend->description().c_str(),
              static_cast<long long>(side), precision.c_str(),
              static_cast<double>(profile.plan.peak_bytes) / 1e6, table(rows).c_str());

  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return best[a] > best[b]; });
  rows = {{"node", "operation", "ms", "GFLOP/s", "GB/s", "by", "inputs"}};
  for (std::size_t i = 0; i < std::min<std::size_t>(40, count); ++i) {
    const NodeId id = static_cast<NodeId>(order[i]);
    const Node& node = graph.node(id);
    rows.push_back({node.name, std::string(node.operation->name), format("{:.2f}", best[order[i]] * 1e3),
                    format("{:.0f}", node_flops(graph, node) / best[order[i]] * 1e-9),
                    format("{:.1f}", static_cast<double>(node_bytes(graph, node)) / best[order[i]] * 1e-9),
                    profile.compiled.kernel(id).implementation(), sides(graph, node)});
  }
  std::printf("%s\n", table(rows).c_str());
}

}  // namespace
}  // namespace voxswap

int main(int count, char** arguments) {
  if (count != 4) {
    std::fprintf(stderr, "usage: node_times SIDE f32|bf16 REPEATS\n");
    return 2;
  }
  try {
    voxswap::measure(std::atoll(arguments[1]), arguments[2], std::max(1, std::atoi(arguments[3])));
    return 0;
  } catch (const voxswap::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.exit());
  }
}
