// A plan that is broken is refused. The judge is an interpreter of our own that marks every line of the arena
// with what was written there last: whatever it finds wrong, verify() must have found as well.
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "net/operation.h"
#include "swap/arena.h"
#include "swap/planner.h"
#include "tests/swap/graphs.h"

namespace voxswap {
namespace {

using test::SmallStep;

std::size_t index(std::int64_t id) {
  return static_cast<std::size_t>(id);
}

struct Planned {
  SmallStep step;
  std::vector<std::int64_t> workspaces;
  Plan plan;
};

Planned planned(std::uint64_t seed, int nodes) {
  Planned result{test::random_step(seed, nodes), {}, {}};
  const Philox random(seed, 3);
  for (std::size_t i = 0; i < result.step.graph.nodes().size(); ++i)
    result.workspaces.push_back(random.word(i) % 3 == 0 ? 100 + random.word(i) % 500 : 0);
  result.plan = make_plan("keep", {&result.step.graph, result.workspaces, {}, result.step.kept});
  return result;
}

// Runs a plan on marks instead of numbers.
class Interpreter {
 public:
  Interpreter(const Graph& graph, const std::vector<std::int64_t>& workspaces, const Plan& plan)
      : graph_(graph), workspaces_(workspaces), plan_(plan) {}

  bool finds_fault() {
    if (plan_.peak_bytes < 0 || plan_.peak_bytes > 1 << 24) return true;
    lines_.assign(index(plan_.peak_bytes / 64 + 1), -1);
    version_.assign(graph_.values().size(), 0);
    for (ValueId id = 0; index(id) < graph_.values().size(); ++id)
      if (graph_.value(id).producer == none && is_read(id)) mark_value(id, 0);
    std::set<NodeId> done;
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(plan_.instructions.size()) && !fault_; ++i) {
      const NodeId node = plan_.instructions[index(i)].node;
      if (node < 0 || index(node) >= graph_.nodes().size() || !done.insert(node).second) return true;
      run(node, i);
    }
    if (done.size() != graph_.nodes().size()) return true;
    const auto end = static_cast<std::int32_t>(plan_.instructions.size()) - 1;
    for (ValueId id = 0; index(id) < graph_.values().size(); ++id)
      if (graph_.value(id).persistent()) check(id, end);
    for (const ValueId id : plan_.kept) check(id, end);
    return fault_;
  }

 private:
  bool is_read(ValueId id) const {
    if (graph_.value(id).persistent()) return true;
    for (const Node& node : graph_.nodes())
      for (const ValueId input : node.inputs)
        if (input == id) return true;
    return false;
  }
  std::int64_t mark(ValueId id) const { return 1000 * id + version_[index(id)]; }

  const Residency* place_of(ValueId id, std::int32_t at) {
    for (const Residency& r : plan_.residencies)
      if (r.value == id && r.first <= at && at <= r.last) {
        if (r.offset < 0 || r.bytes < graph_.value(id).bytes() || r.offset + r.bytes > plan_.peak_bytes ||
            r.offset % 64 != 0)
          break;
        return &r;
      }
    fault_ = true;
    return nullptr;
  }
  void fill(std::int64_t offset, std::int64_t bytes, std::int64_t what) {
    for (std::int64_t line = offset / 64; line * 64 < offset + bytes; ++line) lines_[index(line)] = what;
  }
  void mark_value(ValueId id, std::int32_t at) {
    if (const Residency* place = place_of(id, at)) fill(place->offset, graph_.value(id).bytes(), mark(id));
  }
  void check(ValueId id, std::int32_t at) {
    const Residency* place = place_of(id, at);
    if (place == nullptr) return;
    for (std::int64_t line = place->offset / 64; line * 64 < place->offset + graph_.value(id).bytes(); ++line)
      if (lines_[index(line)] != mark(id)) fault_ = true;
  }

  // Versions of persistent values that a node must find: the updates before it in the graph.
  int expected_version(ValueId id, NodeId node) const {
    int version = 0;
    for (NodeId earlier = 0; earlier < node; ++earlier)
      for (const ValueId update : graph_.node(earlier).updates) version += update == id ? 1 : 0;
    return version;
  }

  void run(NodeId id, std::int32_t at) {
    const Node& node = graph_.node(id);
    for (const auto* list : {&node.inputs, &node.updates})
      for (const ValueId value : *list) {
        check(value, at);
        if (version_[index(value)] != expected_version(value, id)) fault_ = true;
      }
    if (fault_) return;
    write_workspace(id, at);
    for (const ValueId value : node.outputs) mark_value(value, at);
    if (fault_) return;
    for (const ValueId value : node.outputs) check(value, at);  // outputs and workspace apart
    for (const ValueId value : node.updates) check(value, at);
    for (const ValueId value : node.inputs)
      if (!written_over(node, value, at)) check(value, at);  // a kernel reads while it writes
    for (const ValueId value : node.updates) {
      ++version_[index(value)];
      mark_value(value, at);
    }
  }

  void write_workspace(NodeId id, std::int32_t at) {
    if (workspaces_[index(id)] == 0) return;
    for (const Residency& r : plan_.residencies)
      if (r.value == none && r.node == id && r.first <= at && at <= r.last && r.offset >= 0 &&
          r.offset % 64 == 0 && r.offset + r.bytes <= plan_.peak_bytes && r.bytes >= workspaces_[index(id)]) {
        fill(r.offset, workspaces_[index(id)], -2);
        return;
      }
    fault_ = true;
  }

  // By an output that the operation may write there, element over element.
  bool written_over(const Node& node, ValueId input, std::int32_t at) {
    for (const auto& [o, i] : node.operation->in_place) {
      if (node.inputs[index(i)] != input) continue;
      const Residency *to = place_of(node.outputs[index(o)], at), *from = place_of(input, at);
      if (to != nullptr && from != nullptr && to->offset == from->offset) return true;
    }
    return false;
  }

  const Graph& graph_;
  const std::vector<std::int64_t>& workspaces_;
  const Plan& plan_;
  std::vector<std::int64_t> lines_;  // what each line of 64 bytes holds
  std::vector<int> version_;
  bool fault_ = false;
};

bool broken(const Planned& p) {
  return Interpreter(p.step.graph, p.workspaces, p.plan).finds_fault();
}
std::vector<std::string> violations(const Planned& p) {
  return verify(p.step.graph, p.workspaces, p.plan);
}

using Draw = std::function<std::size_t(std::size_t below)>;
struct Mutation {
  const char* name;
  void (*apply)(Plan&, const Draw&);
};

const Mutation mutations[] = {
    {"shift an offset",
     [](Plan& plan, const Draw& draw) {
       Residency& r = plan.residencies[draw(plan.residencies.size())];
       r.offset += 64 * (static_cast<std::int64_t>(draw(9)) - 4);
     }},
    {"give a place another's offset",
     [](Plan& plan, const Draw& draw) {
       plan.residencies[draw(plan.residencies.size())].offset =
           plan.residencies[draw(plan.residencies.size())].offset;
     }},
    {"end a residency earlier",
     [](Plan& plan, const Draw& draw) {
       Residency& r = plan.residencies[draw(plan.residencies.size())];
       r.last = std::max<std::int32_t>(r.first, r.last - 1 - static_cast<std::int32_t>(draw(3)));
     }},
    {"begin a residency later",
     [](Plan& plan, const Draw& draw) {
       Residency& r = plan.residencies[draw(plan.residencies.size())];
       r.first = std::min<std::int32_t>(r.last, r.first + 1 + static_cast<std::int32_t>(draw(3)));
     }},
    {"swap two instructions",
     [](Plan& plan, const Draw& draw) {
       std::swap(plan.instructions[draw(plan.instructions.size())],
                 plan.instructions[draw(plan.instructions.size())]);
     }},
    {"drop a residency",
     [](Plan& plan, const Draw& draw) {
       plan.residencies.erase(plan.residencies.begin() +
                              static_cast<std::ptrdiff_t>(draw(plan.residencies.size())));
     }},
    {"run a node twice",
     [](Plan& plan, const Draw& draw) {
       plan.instructions[draw(plan.instructions.size())] = plan.instructions[draw(plan.instructions.size())];
     }},
    {"shrink a place",
     [](Plan& plan, const Draw& draw) { plan.residencies[draw(plan.residencies.size())].bytes -= 64; }},
    {"shrink the arena",
     [](Plan& plan, const Draw& draw) { plan.peak_bytes -= 64 * static_cast<std::int64_t>(1 + draw(20)); }},
};

TEST(Verify, FindsNothingInPlansOfKeep) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Planned p = planned(seed, 3 + static_cast<int>(seed % 30));
    EXPECT_EQ(violations(p), std::vector<std::string>()) << "seed " << seed;
    EXPECT_FALSE(broken(p)) << "seed " << seed;
  }
}

TEST(Verify, CatchesEveryMutationThatBreaksAPlan) {
  for (const Mutation& mutation : mutations) {
    int harmful = 0;
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
      Planned p = planned(seed % 40, 12 + static_cast<int>(seed % 20));
      const Philox random(seed, 4);
      std::uint64_t at = 0;
      mutation.apply(p.plan, [&](std::size_t below) { return random.word(at++) % below; });
      if (!broken(p)) continue;
      ++harmful;
      EXPECT_FALSE(violations(p).empty()) << mutation.name << ", seed " << seed;
    }
    EXPECT_GE(harmful, 100) << mutation.name << " hardly ever breaks anything";
  }
}

// The rest are single facts, each broken on purpose.
bool mentions(const std::vector<std::string>& list, const std::string& words) {
  for (const std::string& text : list)
    if (text.find(words) != std::string::npos) return true;
  return false;
}

TEST(Verify, CatchesAWorkspaceThatOverlapsAValue) {
  int tried = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Planned p = planned(seed, 20);
    for (Residency& r : p.plan.residencies) {
      if (r.value != none) continue;
      r.offset = 0;  // over the first parameter, which is always live
      EXPECT_TRUE(mentions(violations(p), "the workspace of")) << "seed " << seed;
      ++tried;
      break;
    }
  }
  EXPECT_GT(tried, 90);
}

TEST(Verify, CatchesAMisalignedPlace) {
  Planned p = planned(1, 10);
  p.plan.residencies.back().offset += 4;
  EXPECT_TRUE(mentions(violations(p), "not a multiple of 64"));
}

TEST(Verify, CatchesAPlaceOutsideTheArenaEvenWhenItsEndOverflows) {
  Planned p = planned(1, 10);
  p.plan.residencies.back().bytes = std::numeric_limits<std::int64_t>::max();
  EXPECT_TRUE(mentions(violations(p), "outside the arena"));
}

TEST(Verify, CatchesABudgetExceededByOneByte) {
  Planned p = planned(2, 10);
  p.plan.budget_bytes = p.plan.peak_bytes;
  EXPECT_TRUE(violations(p).empty());
  p.plan.budget_bytes -= 1;
  EXPECT_TRUE(mentions(violations(p), "exceeds the budget"));
}

TEST(Verify, CatchesNodesAndValuesThatDoNotExist) {
  Planned p = planned(3, 10);
  p.plan.instructions.front().node = 1000;
  EXPECT_TRUE(mentions(violations(p), "does not exist"));
  p = planned(3, 10);
  p.plan.residencies.front().value = 1000;
  EXPECT_TRUE(mentions(violations(p), "no such thing"));
}

TEST(Verify, CatchesPersistentValuesThatAreElsewhere) {
  Planned p = planned(4, 10);
  for (Residency& r : p.plan.residencies) r.offset += 64;
  p.plan.peak_bytes += 64;
  EXPECT_TRUE(mentions(violations(p), "its place is"));
}

TEST(Verify, CatchesSumsThatAreWrong) {
  Planned p = planned(5, 10);
  p.plan.live_bytes.front() += 64;
  EXPECT_TRUE(mentions(violations(p), "sums of the places"));
  p = planned(5, 10);
  p.plan.live_peak_bytes += 64;
  EXPECT_TRUE(mentions(violations(p), "largest live sum"));
}

TEST(Verify, CatchesAParameterReadAfterItsUpdateInsteadOfBefore) {
  Graph graph;
  const Shape volume = {1, 2, 2, 2, 4};
  const ValueId p = graph.add_value("p", {4}, ElementType::f32, Role::parameter),
                m = graph.add_value("m", {4}, ElementType::f32, Role::optimizer_state),
                v = graph.add_value("v", {4}, ElementType::f32, Role::optimizer_state),
                w = graph.add_value("w", {4, 4, 1, 1, 1}, ElementType::f32, Role::parameter),
                x = graph.add_value("x", volume, ElementType::f32, Role::input);
  const ValueId sum = graph.apply("channel_sum", "sum", {x});
  const ValueId y = graph.apply("conv3d", "conv", {x, w, p}, {{"stride", 1}, {"padding", 0}});
  graph.add("adam", "update", {sum},
            {{"beta1", 0.9}, {"beta2", 0.999}, {"epsilon", 1e-7}, {"weight_decay", 0}}, {p, m, v});
  const std::vector<std::int64_t> workspaces(3, 0);
  Plan plan = make_plan("keep", {&graph, workspaces, {}, {y}});
  ASSERT_TRUE(verify(graph, workspaces, plan).empty());
  std::swap(plan.instructions[1], plan.instructions[2]);
  EXPECT_TRUE(mentions(verify(graph, workspaces, plan), "after 1 updates instead of 0"));
}

}  // namespace
}  // namespace voxswap
