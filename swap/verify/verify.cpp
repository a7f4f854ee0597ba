// Checks a plan against its graph alone, independently of the planner: first that everything is in range,
// then the allocations (verify_places.cpp), then their contents (verify_memory.cpp).
#include "swap/verify/verify.h"

#include <algorithm>

#include "base/shape.h"
#include "base/text.h"
#include "net/graph/operation.h"
#include "swap/plan/plan.h"
#include "swap/verify/checks.h"

namespace voxswap::swap {
namespace {

using Kind = Instruction::Kind;

bool on_disk(const Instruction& instruction) {
  return instruction.kind == Kind::write_disk || instruction.kind == Kind::read_disk;
}

// Checks the fields of every instruction, by which later checks index. Returns false if one is invalid.
class InstructionChecker {
 public:
  InstructionChecker(const net::Graph& graph, const Plan& plan, Violations& violations)
      : graph_(graph), plan_(plan), violations_(violations) {}

  bool run() {
    for (const Streamed& streamed : plan_.streamed) check_streamed(streamed);
    for (std::int32_t i = 0; index(i) < plan_.instructions.size(); ++i) {
      const Instruction& instruction = plan_.instructions[index(i)];
      if (instruction.kind == Kind::run) {
        check_run(i, instruction);
      } else {
        check_move(i, instruction);
      }
      check_waits(i, instruction);
    }
    for (const net::ValueId value : plan_.kept)
      if (value < 0 || index(value) >= graph_.values().size()) bad("kept value {} does not exist", value);
    return good_;
  }

 private:
  template <class... Arguments>
  void bad(fmt::format_string<Arguments...> pattern, Arguments&&... arguments) {
    violations_.add(pattern, std::forward<Arguments>(arguments)...);
    good_ = false;
  }

  void check_streamed(const Streamed& streamed) {
    const net::ValueId id = streamed.value;
    if (id < 0 || index(id) >= graph_.values().size()) return bad("streamed value {} does not exist", id);
    const net::Value& value = graph_.value(id);
    const bool kept = std::find(plan_.kept.begin(), plan_.kept.end(), id) != plan_.kept.end();
    if (value.persistent() || (value.role != net::Role::input && !kept))
      bad("'{}' is streamed, but is neither an input nor kept", value.name);
    if (find_streamed(plan_, id) != &streamed) bad("'{}' is streamed twice", value.name);
    if (streamed.host < plan_.host_bytes ||
        value.bytes() > plan_.host_bytes + plan_.streamed_bytes - streamed.host)
      bad("streamed '{}' has {} bytes at {}, outside the {} bytes of streamed values from {} on", value.name,
          value.bytes(), streamed.host, plan_.streamed_bytes, plan_.host_bytes);
  }

  void check_run(std::int32_t at, const Instruction& i) {
    if (i.node < 0 || index(i.node) >= graph_.nodes().size())
      return bad("instruction {} runs node {}, which does not exist", at, i.node);
    const net::Node& node = graph_.node(i.node);
    if (i.exchanges != net::is_exchange(node))
      return bad("instruction {} runs '{}' on the stream {}", at, node.name, lane_name(i.lane()));
    if (!i.exchanges) return;
    if (i.node <= last_exchange_)
      bad("instruction {} runs '{}' after '{}', but other ranks use another order", at, node.name,
          graph_.node(last_exchange_).name);
    last_exchange_ = i.node;
  }

  void check_move(std::int32_t at, const Instruction& i) {
    if (i.exchanges) bad("instruction {} is not a node and cannot be an exchange", at);
    if (i.value < 0 || index(i.value) >= graph_.values().size()) {
      bad("instruction {} moves value {}, which does not exist", at, i.value);
      return;
    }
    const net::Value& value = graph_.value(i.value);
    if (value.persistent()) bad("instruction {} moves '{}', but persistent values must stay", at, value.name);
    if (i.begin < 0 || i.bytes <= 0 || i.bytes > value.bytes() - i.begin) {
      bad("instruction {} moves {} bytes from byte {} of '{}', which has {}", at, i.bytes, i.begin,
          value.name, value.bytes());
      return;
    }
    if (const Streamed* streamed = find_streamed(plan_, i.value)) {
      if (on_disk(i) || i.host != streamed->host + i.begin)
        bad("instruction {} moves byte {} of '{}' from or to byte {} of the host or to disk: it streams from "
            "and to byte {} on",
            at, i.begin, value.name, i.host, streamed->host);
      if (i.kind == Kind::copy_out && value.role == net::Role::input)
        bad("instruction {} copies out '{}', an input, which is on the host already", at, value.name);
      return;
    }
    const std::int64_t bytes = on_disk(i) ? whole_blocks(i.bytes) : i.bytes;
    check_range(at, "the host pool", i.host, bytes, plan_.host_bytes);
    if (!on_disk(i)) return;
    check_range(at, "the scratch file", i.disk, bytes, plan_.disk_bytes);
    for (const std::int64_t position : {i.begin, i.host, i.disk})
      if (position % disk_block != 0)
        bad("instruction {} accesses the disk with {} as byte of '{}', {} in the host pool and {} in the "
            "file: not all are multiples of {}",
            at, i.begin, value.name, i.host, i.disk, disk_block);
  }

  void check_range(std::int32_t at, const char* memory, std::int64_t offset, std::int64_t bytes,
                   std::int64_t size) {
    if (offset < 0 || bytes > size - offset)
      bad("instruction {} uses {} bytes at {} of {}, which has {}", at, bytes, offset, memory, size);
  }

  void check_waits(std::int32_t at, const Instruction& i) {
    for (const std::int32_t other : i.waits) {
      if (other < 0 || other >= at)
        bad("instruction {} waits for instruction {}, which does not come before it", at, other);
      else if (plan_.instructions[index(other)].lane() == i.lane())
        bad("instruction {} waits for instruction {} of its own stream", at, other);
    }
  }

  const net::Graph& graph_;
  const Plan& plan_;
  Violations& violations_;
  net::NodeId last_exchange_ = net::none;
  bool good_ = true;
};

// Checks that every node runs once, and is recomputed only if that changes nothing.
void check_runs(const net::Graph& graph, const Plan& plan, Violations& violations) {
  std::vector<std::int32_t> first(graph.nodes().size(), net::none);
  for (std::int32_t i = 0; index(i) < plan.instructions.size(); ++i) {
    const Instruction& instruction = plan.instructions[index(i)];
    if (instruction.kind != Kind::run) continue;
    const net::Node& node = graph.node(instruction.node);
    std::int32_t& before = first[index(instruction.node)];
    if (before == net::none && instruction.recomputed)
      violations.add("instruction {} recomputes '{}', which did not run before", i, node.name);
    if (before != net::none && !instruction.recomputed)
      violations.add("node '{}' runs twice: instruction {} is not marked as a recomputation of {}", node.name,
                     i, before);
    if (before != net::none && !node.updates.empty())
      violations.add("instruction {} runs '{}' a second time, which would update its values twice", i,
                     node.name);
    if (before == net::none) before = i;
  }
  for (std::size_t node = 0; node < first.size(); ++node)
    if (first[node] == net::none) violations.add("node {} '{}' never runs", node, graph.nodes()[node].name);
}

void check_budgets(const Plan& plan, Violations& violations) {
  if (plan.peak_bytes > largest_arena(plan.budget_bytes, plan.paged))
    violations.add("the arena of {} bytes exceeds the budget of {}", plan.peak_bytes, plan.budget_bytes);
  if (plan.host_bytes > plan.host_budget_bytes)
    violations.add("the host pool of {} bytes exceeds the budget of {}", plan.host_bytes,
                   plan.host_budget_bytes);
  if (plan.disk_bytes > plan.disk_budget_bytes)
    violations.add("the scratch file of {} bytes exceeds the budget of {}", plan.disk_bytes,
                   plan.disk_budget_bytes);
}

}  // namespace

std::vector<std::string> verify(const net::Graph& graph, const std::vector<std::int64_t>& workspaces,
                                const Plan& plan) {
  Violations violations;
  check_budgets(plan, violations);
  if (workspaces.size() != graph.nodes().size()) {
    violations.add("there are workspaces of {}, the graph has {}", counted(workspaces.size(), "node"),
                   graph.nodes().size());
    return violations.take();
  }
  const bool instructions = InstructionChecker(graph, plan, violations).run();
  const bool places = check_place_ranges(graph, workspaces, plan, violations);
  if (!instructions || !places) return violations.take();
  check_runs(graph, plan, violations);
  check_places(graph, plan, violations);
  check_memory(graph, workspaces, plan, violations);
  return violations.take();
}

}  // namespace voxswap::swap
