// Poison for debug runs: every free allocation is filled with bytes 0xff, a NaN in every floating point type,
// so that a read of dead memory shows in the loss.
//
// On with VOXSWAP_POISON=1; on by itself in builds without optimisation, off with VOXSWAP_POISON=0.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "net/backends/backend.h"
#include "swap/plan/plan.h"

namespace voxswap::swap {

struct ByteRange {  // of a memory
  std::int64_t offset = 0, bytes = 0;
  bool operator==(const ByteRange&) const = default;
};

// Which bytes of the arena are poisoned when.
struct PoisonPlan {
  std::vector<ByteRange> before;              // the first instruction
  std::vector<std::vector<ByteRange>> after;  // each instruction, on its own stream, before it counts as done
};

// A byte of a place is poisoned by the last instruction of the list that uses it, if all the others that use
// it are ordered before that one; otherwise it is left alone. Whoever uses the byte next is ordered after
// that instruction, or the plan would not verify: so poisoning adds no race and no order. `serial`: the list
// is followed one instruction after the other. REQUIRES: a plan without violations.
PoisonPlan plan_poison(const net::Graph& graph, const std::vector<std::int64_t>& workspaces, const Plan& plan,
                       bool serial);

bool poisoning_wanted();
constexpr std::int64_t guard_bytes = 256;  // behind every workspace (workspace_guards.h)

// Fills from a small block of poison, through a stream, as any device can.
class Poison {
 public:
  explicit Poison(net::Backend& backend);
  void fill(net::Stream& stream, std::byte* memory, const std::vector<ByteRange>& ranges) const;

 private:
  static constexpr std::int64_t block_bytes = std::int64_t{1} << 20;
  std::unique_ptr<net::Memory> block_;
};

}  // namespace voxswap::swap
