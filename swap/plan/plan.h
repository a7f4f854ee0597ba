// A plan: where every value of a step lies, from when to when, and in which order things happen on which
// stream. It is data: printable, comparable, written as plan.json. It changes when and where, never what.
//
// What ranks that train together exchange (net/collective/) is run on a lane of its own, so that the compute
// lane goes on with what is left of the backward pass. Its order is the graph's, the same on all ranks.
//
// The instructions form one list. It is the order in which they are handed to their streams, and one in which
// they could run one after the other; what really orders two instructions is that they are of the same
// stream, or a chain of waits between them. Times in a plan are positions in this list.
//
// Three memories: the device's arena (residencies), the host pool, the scratch file on disk. A value leaves
// for the host by copy_out, for disk by copy_out and write_disk, and comes back by read_disk and copy_in, in
// chunks. It may come back to another place, and may be made again by a second run of its node instead.
//
// What a step reads and gives may stream. Inputs lie in the host's memory anyhow: one that is not on the
// device when the step begins, or leaves it, is brought in from there by copy_in and needs no copy_out. A
// kept value may leave for there by copy_out and not come back. The bytes of both are not in the pool but
// wherever the step's user has them, as if behind the pool: at offsets from host_bytes on.
//
// Disk is accessed in blocks of disk_block bytes. `bytes` of a disk instruction is what
// belongs to the value, as everywhere; the access itself covers that rounded up to whole blocks, in the host
// pool as in the file: write_disk also reads, and read_disk also overwrites, the rest of the last block.
// `begin`, `host` and `disk` of disk instructions are multiples of the block.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "net/graph/graph.h"

namespace voxswap::swap {

enum class Lane { compute, to_host, to_device, to_disk, from_disk, exchange };  // a stream each
constexpr std::size_t lane_count = 6;
std::string_view lane_name(Lane lane);

// A range of instructions during which a value (or a kernel's workspace) has a place in the device arena.
// A value may have several, one after the other; an instruction finds the one that spans it.
struct Residency {
  net::ValueId value = net::none;  // none: the workspace of `node`
  net::NodeId node = net::none;
  std::int64_t offset = 0;  // bytes into the arena, a multiple of 64
  std::int64_t bytes = 0;   // what it occupies
  std::int32_t first = 0;   // instruction that first needs the place
  std::int32_t last = 0;    // instruction after which the place is free
};

struct Instruction {
  enum class Kind {
    run,         // a node, on the compute stream, or that of exchanges
    copy_out,    // device -> host pool
    copy_in,     // host pool -> device
    write_disk,  // host pool -> scratch file
    read_disk,   // scratch file -> host pool
  } kind = Kind::run;
  net::NodeId node = net::none;    // run
  bool again = false;              // run: the node ran before in this step
  bool exchanges = false;          // run: the node waits for other ranks, on a stream of its own
  net::ValueId value = net::none;  // otherwise: whose bytes [begin, begin + bytes) are moved
  std::int64_t begin = 0, bytes = 0;
  std::int64_t host = 0;  // otherwise: where byte `begin` lies in the host pool
  std::int64_t disk = 0;  // write_disk, read_disk: where it lies in the scratch file
  std::vector<std::int32_t>
      waits;  // earlier instructions, of other streams, that must be done before it starts

  Lane lane() const { return exchanges ? Lane::exchange : static_cast<Lane>(kind); }
  bool operator==(const Instruction&) const = default;
};
std::string_view kind_name(Instruction::Kind kind);  // as written in plan.json

// The place outside the pool of an input or a kept value, the only one that its copies use: its bytes lie
// there before and during the step, or after it.
struct Streamed {
  net::ValueId value = net::none;
  std::int64_t host = 0;  // in [host_bytes, host_bytes + streamed_bytes)
  bool operator==(const Streamed&) const = default;
};

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max() / 2;  // as a budget of the device

// A paged arena takes at most this many times its budget: a driver that moves every page many times per step
// can hold up a GPU for minutes.
constexpr std::int64_t most_oversubscription = 3;
constexpr std::int64_t largest_arena(std::int64_t budget, bool paged) {
  return paged ? std::min(budget, unlimited / most_oversubscription) * most_oversubscription : budget;
}

struct Plan {
  std::string planner;
  std::string remarks;                    // of the planner, for people: parameters it found
  std::int64_t budget_bytes = unlimited;  // of the device
  std::int64_t host_budget_bytes = 0;     // 0: no host pool
  std::int64_t disk_budget_bytes = 0;     // 0: no disk tier
  // The arena is managed memory, whose pages the driver moves: the budget is what the device holds of it at a
  // time.
  bool paged = false;
  std::vector<Instruction> instructions;
  std::vector<Residency> residencies;
  std::int64_t persistent_bytes =
      0;                        // parameters and optimiser state, at the bottom of the arena in order of id
  std::int64_t peak_bytes = 0;  // size of the arena
  std::int64_t host_bytes = 0;  // size of the host pool
  std::int64_t disk_bytes = 0;  // size of the scratch file
  std::int64_t live_peak_bytes =
      0;  // largest sum of what is live at one instruction: no packing can be smaller
  std::vector<std::int64_t> live_bytes;  // that sum per instruction
  // Read from outside after the step: resident to its end, or streamed and copied out.
  std::vector<net::ValueId> kept;
  std::vector<Streamed> streamed;
  std::int64_t streamed_bytes = 0;  // that they take together, no part of host_bytes
  double predicted_seconds = 0;     // simulated time of a step; 0: no cost model was given
};

// Null for a value that does not stream.
const Streamed* find_streamed(const Plan& plan, net::ValueId value);

// What a plan moves and repeats in one step.
struct PlanTotals {
  std::int64_t out_bytes = 0, in_bytes = 0;            // device <-> host
  std::int64_t disk_out_bytes = 0, disk_in_bytes = 0;  // host <-> disk
  std::int64_t values_out = 0;                         // how many values leave
  std::int64_t recomputed_nodes = 0;
};
PlanTotals totals(const Plan& plan);

// The disk is accessed in whole blocks: offsets, sizes and addresses are multiples of one.
constexpr std::int64_t disk_block = 4096;  // bytes

constexpr std::int64_t whole_blocks(std::int64_t bytes) {
  return (bytes + disk_block - 1) / disk_block * disk_block;
}

}  // namespace voxswap::swap
