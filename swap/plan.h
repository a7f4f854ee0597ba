// A plan: where every value of a step lies, from when to when, and in which order things happen. It is data:
// printable, comparable, written as plan.json. It changes when and where, never what.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "net/graph.h"

namespace voxswap {

// A stretch of instructions during which a value (or a kernel's workspace) has a place in the device arena.
struct Residency {
  ValueId value = none;  // none: the workspace of `node`
  NodeId node = none;
  std::int64_t offset = 0;  // bytes into the arena, a multiple of 64
  std::int64_t bytes = 0;   // what it occupies
  std::int32_t first = 0;   // instruction that first needs the place
  std::int32_t last = 0;    // instruction after which the place is free
};

struct Instruction {
  enum class Kind { run } kind = Kind::run;
  NodeId node = none;
};

struct Plan {
  std::string planner;
  std::int64_t budget_bytes = 0;  // 0: unlimited
  std::vector<Instruction> instructions;
  std::vector<Residency> residencies;
  std::int64_t persistent_bytes =
      0;                        // parameters and optimiser state, at the bottom of the arena in order of id
  std::int64_t peak_bytes = 0;  // size of the arena
  std::int64_t live_peak_bytes =
      0;  // largest sum of what is live at one instruction: no packing can be smaller
  std::vector<std::int64_t> live_bytes;  // that sum per instruction
  std::vector<ValueId> kept;             // read from outside after the step: resident to its end
};

std::string plan_json(const Graph& graph, const Plan& plan);
std::string plan_text(const Graph& graph,
                      const Plan& plan);  // the report: peak, limit of any packing, what fills it at the peak

// Every violation, in words: a read before a write, overlap of live places (writing in place over an input
// that dies excepted), a place outside the arena or misaligned or too small or missing, a node run twice or
// never or in a wrong order, persistent values elsewhere than at the bottom, a budget exceeded, sums that are
// not those of the places. Empty for a good plan. Knows nothing of how the plan was made.
std::vector<std::string> verify(const Graph& graph, const std::vector<std::int64_t>& workspaces,
                                const Plan& plan);

}  // namespace voxswap
