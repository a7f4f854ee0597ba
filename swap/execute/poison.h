// Poison for debug runs: every free allocation is filled with bytes 0xff, a NaN in every floating point type,
// so that a read of dead memory shows in the loss.
//
// Enabled by VOXSWAP_POISON=1, and by default in builds without optimisation; disabled by VOXSWAP_POISON=0.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "net/backends/backend.h"
#include "swap/plan/plan.h"

namespace voxswap::swap {

struct ByteRange {
  std::int64_t offset = 0, bytes = 0;
  bool operator==(const ByteRange&) const = default;
};

// The bytes of the arena to poison, and when.
struct PoisonPlan {
  std::vector<ByteRange> before;  // before the first instruction
  std::vector<std::vector<ByteRange>>
      after;  // per instruction: after it, on its stream, before it counts as done
};

// A byte of a residency is poisoned after the last instruction that uses it, if all other users are ordered
// before that one; otherwise it is not poisoned. The next user of the byte is ordered after that instruction,
// because the plan verifies, so poisoning adds neither races nor order. `serial`: instructions run one by
// one. REQUIRES: a plan without violations.
PoisonPlan plan_poison(const net::Graph& graph, const std::vector<std::int64_t>& workspaces, const Plan& plan,
                       bool serial);

bool poisoning_wanted();
constexpr std::int64_t guard_bytes = 256;  // behind every workspace (workspace_guards.h)

// Fills memory by copies of a small block of poison on a stream, which works on any device.
class Poison {
 public:
  explicit Poison(net::Backend& backend);
  void fill(net::Stream& stream, std::byte* memory, const std::vector<ByteRange>& ranges) const;

 private:
  static constexpr std::int64_t block_bytes = std::int64_t{1} << 20;
  std::unique_ptr<net::Memory> block_;
};

}  // namespace voxswap::swap
