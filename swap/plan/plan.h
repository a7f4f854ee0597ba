// A plan: the address and lifetime of every value of a step, and the order of instructions on each stream. A
// plan is data: printable, comparable, written as plan.json. It changes when and where, never what is
// computed.
//
// The instructions form one list. They are enqueued in this order and could run in it one by one. Two
// instructions are really ordered only if they are on the same stream (lane) or linked by a chain of waits.
// Times in a plan are positions in this list. Exchanges between ranks (net/collective/) run on a lane of
// their own, concurrently with the rest of the backward pass, in the graph's order, which is the same on all
// ranks.
//
// There are three memories: the arena on the device (residencies), the host pool and the scratch file on
// disk. A value is swapped out to the host by copy_out, to disk by copy_out and write_disk, and swapped in by
// read_disk and copy_in, in chunks, possibly to another address. Or it is recomputed: its node runs a second
// time.
//
// Inputs and results of the step may be streamed. An input is in host memory anyway: if it is not on the
// device at the start, or is evicted, copy_in reads it from there and no copy_out is needed. A kept value may
// be copied out at the end and not back. These bytes are outside the pool, in memory of the step's user;
// their offsets start at host_bytes.
//
// The disk is accessed in blocks of disk_block bytes. `bytes` of a disk instruction counts the bytes of the
// value. The access covers whole blocks, in the pool as in the file: write_disk also reads, and read_disk
// also overwrites, the rest of the last block. `begin`, `host` and `disk` of disk instructions are multiples
// of the block.
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

// A range of instructions during which a value (or a kernel's workspace) is allocated in the device arena. A
// value may have several, one after the other; an instruction uses the one that spans it.
struct Residency {
  net::ValueId value = net::none;  // none: the workspace of `node`
  net::NodeId node = net::none;
  std::int64_t offset = 0;  // bytes into the arena, a multiple of 64
  std::int64_t bytes = 0;   // occupied
  std::int32_t first = 0;   // instruction that needs it first
  std::int32_t last = 0;    // instruction after which it is free
};

struct Instruction {
  enum class Kind {
    run,         // a node, on the compute stream or the exchange stream
    copy_out,    // device -> host pool
    copy_in,     // host pool -> device
    write_disk,  // host pool -> scratch file
    read_disk,   // scratch file -> host pool
  } kind = Kind::run;
  net::NodeId node = net::none;    // run
  bool recomputed = false;         // run: the node ran before in this step
  bool exchanges = false;          // run: the node communicates with other ranks, on the exchange stream
  net::ValueId value = net::none;  // copies: its bytes [begin, begin + bytes) are moved
  std::int64_t begin = 0, bytes = 0;
  std::int64_t host = 0;  // copies: offset of byte `begin` in the host pool
  std::int64_t disk = 0;  // write_disk, read_disk: its offset in the scratch file
  std::vector<std::int32_t>
      waits;  // earlier instructions of other streams that must be done before it starts

  Lane lane() const { return exchanges ? Lane::exchange : static_cast<Lane>(kind); }
  bool operator==(const Instruction&) const = default;
};
std::string_view kind_name(Instruction::Kind kind);  // as written in plan.json

// The host memory of a streamed input or kept value, which all of its copies use.
struct Streamed {
  net::ValueId value = net::none;
  std::int64_t host = 0;  // in [host_bytes, host_bytes + streamed_bytes)
  bool operator==(const Streamed&) const = default;
};

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max() / 2;  // as a budget of the device

// Limit of a paged arena relative to its budget. A driver that moves every page many times per step can block
// a GPU for minutes.
constexpr std::int64_t most_oversubscription = 3;
constexpr std::int64_t largest_arena(std::int64_t budget, bool paged) {
  return paged ? std::min(budget, unlimited / most_oversubscription) * most_oversubscription : budget;
}

struct Plan {
  std::string planner;
  std::string remarks;                    // of the planner, for people: parameters that it tuned
  std::int64_t budget_bytes = unlimited;  // of the device
  std::int64_t host_budget_bytes = 0;     // 0: no host pool
  std::int64_t disk_budget_bytes = 0;     // 0: no disk tier
  // The arena is managed memory, whose pages the driver moves. The device holds `budget_bytes` of it at a
  // time.
  bool paged = false;
  std::vector<Instruction> instructions;
  std::vector<Residency> residencies;
  std::int64_t persistent_bytes = 0;  // parameters and optimiser state, at the bottom of the arena by id
  std::int64_t peak_bytes = 0;        // size of the arena
  std::int64_t host_bytes = 0;        // size of the host pool
  std::int64_t disk_bytes = 0;        // size of the scratch file
  std::int64_t live_peak_bytes = 0;   // largest sum of live bytes at one instruction: no packing is smaller
  std::vector<std::int64_t> live_bytes;  // that sum per instruction
  // Values read from outside after the step: resident to its end, or streamed and copied out.
  std::vector<net::ValueId> kept;
  std::vector<Streamed> streamed;
  std::int64_t streamed_bytes = 0;  // their sum, not part of host_bytes
  double predicted_seconds = 0;     // simulated time of a step; 0: no cost model was given
};

// Null for a value that does not stream.
const Streamed* find_streamed(const Plan& plan, net::ValueId value);

// Bytes moved and nodes recomputed in one step.
struct PlanTotals {
  std::int64_t out_bytes = 0, in_bytes = 0;            // device <-> host
  std::int64_t disk_out_bytes = 0, disk_in_bytes = 0;  // host <-> disk
  std::int64_t values_out = 0;                         // number of values swapped out
  std::int64_t recomputed_nodes = 0;
};
PlanTotals totals(const Plan& plan);

// The disk is accessed in whole blocks: offsets, sizes and addresses are multiples of one.
constexpr std::int64_t disk_block = 4096;  // bytes

constexpr std::int64_t whole_blocks(std::int64_t bytes) {
  return (bytes + disk_block - 1) / disk_block * disk_block;
}

}  // namespace voxswap::swap
