// Names of lanes and instructions, and sums over the instructions of a plan.
#include "swap/plan/plan.h"

#include <algorithm>
#include <set>

namespace voxswap::swap {

std::string_view lane_name(Lane lane) {
  switch (lane) {
    case Lane::compute:
      return "compute";
    case Lane::to_host:
      return "to_host";
    case Lane::to_device:
      return "to_device";
    case Lane::to_disk:
      return "to_disk";
    case Lane::from_disk:
      return "from_disk";
    case Lane::exchange:
      return "exchange";
  }
  return "";
}

std::string_view kind_name(Instruction::Kind kind) {
  using Kind = Instruction::Kind;
  switch (kind) {
    case Kind::run:
      return "run";
    case Kind::copy_out:
      return "copy_out";
    case Kind::copy_in:
      return "copy_in";
    case Kind::write_disk:
      return "write_disk";
    case Kind::read_disk:
      return "read_disk";
  }
  return "";
}

const Streamed* find_streamed(const Plan& plan, net::ValueId value) {
  const auto found = std::find_if(plan.streamed.begin(), plan.streamed.end(),
                                  [&](const Streamed& other) { return other.value == value; });
  return found == plan.streamed.end() ? nullptr : &*found;
}

PlanTotals totals(const Plan& plan) {
  using Kind = Instruction::Kind;
  PlanTotals result;
  std::set<net::ValueId> out;
  std::set<net::NodeId> recomputed;
  for (const Instruction& instruction : plan.instructions) {
    switch (instruction.kind) {
      case Kind::run:
        if (instruction.recomputed) recomputed.insert(instruction.node);
        break;
      case Kind::copy_out:
        result.out_bytes += instruction.bytes;
        out.insert(instruction.value);
        break;
      case Kind::copy_in:
        result.in_bytes += instruction.bytes;
        break;
      case Kind::write_disk:
        result.disk_out_bytes += instruction.bytes;
        break;
      case Kind::read_disk:
        result.disk_in_bytes += instruction.bytes;
        break;
    }
  }
  result.values_out = static_cast<std::int64_t>(out.size());
  result.recomputed_nodes = static_cast<std::int64_t>(recomputed.size());
  return result;
}

}  // namespace voxswap::swap
