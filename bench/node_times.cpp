// Time of each node of an isensee2017 training step with planner keep: the shortest over several steps. It
// prints a table by operation (share, GFLOP/s, GB/s) and one of the slowest nodes with their routines. For
// comparison it prints the peak of a CPU core in products and copies (limits.h).
//
//   node_times [--network FILTERS,DEPTH] SIDE f32|bf16 STEPS [BACKEND [fastest]]
//
// BACKEND: onednn (the default) or cuda. fastest: the backend chooses routines by timing them.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "base/error.h"
#include "bench/limits.h"
#include "bench/random_training.h"
#include "net/graph/graph.h"
#include "net/graph/operation.h"
#include "net/networks/network.h"
#include "swap/planners/planner.h"

namespace voxswap {
namespace {

struct Cost {
  double seconds = 0, flops = 0, bytes = 0;
  int nodes = 0;
};

// The shortest time of every node over `steps` steps after a warm-up step.
std::vector<double> node_seconds(bench::RandomTraining& training, const swap::Plan& plan, int steps) {
  swap::Executor executor(training.compiled, plan, swap::allocate_tiers(*training.backend, {&plan}, ""));
  training.write_weights(executor);
  std::vector<double> best(training.step.graph.nodes().size(), 1e30);
  for (int number = 0; number <= steps; ++number) {
    const swap::StepReport& report = training.train(executor, number + 1);
    for (std::size_t i = 0; number > 0 && i < plan.instructions.size(); ++i) {
      if (plan.instructions[i].kind != swap::Instruction::Kind::run) continue;
      double& seconds = best[static_cast<std::size_t>(plan.instructions[i].node)];
      seconds = std::min(seconds, report.end[i] - report.begin[i]);
    }
  }
  return best;
}

std::string sides(const net::Graph& graph, const net::Node& node) {
  std::string text;
  for (net::ValueId id : node.inputs) text += (text.empty() ? "" : " ") + graph.value(id).shape.text();
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

void measure(std::int64_t side, const std::string& precision, int steps, const std::string& backend,
             bool fastest, const net::NetworkOptions& network) {
  bench::RandomTraining training(side, precision, backend, {.deterministic = !fastest}, network);
  const net::Graph& graph = training.step.graph;
  swap::StepProblem request{&graph, training.compiled.workspaces(), {}, {training.step.loss}};
  const swap::Plan plan = swap::make_plan("keep", request);
  const std::vector<double> best = node_seconds(training, plan, steps);
  const std::size_t count = graph.nodes().size();
  std::map<std::string, Cost> operations;
  Cost all;
  for (std::size_t id = 0; id < count; ++id) {
    const net::Node& node = graph.nodes()[id];
    for (Cost* cost : {&operations[std::string(node.operation->name)], &all}) {
      cost->seconds += best[id], cost->nodes += 1;
      cost->flops += net::node_flops(graph, node),
          cost->bytes += static_cast<double>(net::node_bytes(graph, node));
    }
  }
  std::vector<std::pair<std::string, Cost>> sorted(operations.begin(), operations.end());
  std::sort(sorted.begin(), sorted.end(),
            [](auto& a, auto& b) { return a.second.seconds > b.second.seconds; });
  std::vector<std::vector<std::string>> rows = {{"operation", "nodes", "ms", "%", "GFLOP/s", "GB/s"}};
  for (const auto& [name, cost] : sorted) rows.push_back(row(name, cost, all.seconds));
  rows.push_back(row("all", all, all.seconds));
  std::printf("%s, %lld^3 %s, arena %.0f MB\n", training.backend->description().c_str(),
              static_cast<long long>(side), precision.c_str(), static_cast<double>(plan.peak_bytes) / 1e6);
  if (backend == "onednn") {
    const bench::Limits limits = bench::measure_limits();
    std::printf("a core of %s: products %.0f GFLOP/s in f32, %.0f in bf16; copies %.1f GB/s\n",
                bench::processor_name().c_str(), limits.f32 * 1e-9, limits.bf16 * 1e-9, limits.copy * 1e-9);
  }
  std::printf("%s\n", table(rows).c_str());

  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return best[a] > best[b]; });
  rows = {{"node", "operation", "ms", "GFLOP/s", "GB/s", "by", "inputs"}};
  for (std::size_t i = 0; i < std::min<std::size_t>(40, count); ++i) {
    const net::NodeId id = static_cast<net::NodeId>(order[i]);
    const net::Node& node = graph.node(id);
    rows.push_back(
        {node.name, std::string(node.operation->name), format("{:.2f}", best[order[i]] * 1e3),
         format("{:.0f}", net::node_flops(graph, node) / best[order[i]] * 1e-9),
         format("{:.1f}", static_cast<double>(net::node_bytes(graph, node)) / best[order[i]] * 1e-9),
         training.compiled.kernel(id).implementation(), sides(graph, node)});
  }
  std::printf("%s\n", table(rows).c_str());
}

}  // namespace
}  // namespace voxswap

int main(int count, char** arguments) {
  const voxswap::net::NetworkOptions network = voxswap::bench::take_network(count, arguments);
  if (count < 4 || count > 6 || (count == 6 && std::string_view(arguments[5]) != "fastest")) {
    std::fprintf(stderr,
                 "usage: node_times [--network FILTERS,DEPTH] SIDE f32|bf16 STEPS [BACKEND [fastest]]\n");
    return 2;
  }
  try {
    voxswap::measure(std::atoll(arguments[1]), arguments[2], std::max(1, std::atoi(arguments[3])),
                     count > 4 ? arguments[4] : "onednn", count > 5, network);
    return 0;
  } catch (const voxswap::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.exit());
  }
}
