#include "swap/execute/launches.h"

#include <cstdlib>
#include <string_view>

#include "net/graph/operation.h"

namespace voxswap::swap {

std::vector<bool> waited_for(const Plan& plan) {
  std::vector<bool> result(plan.instructions.size(), false);
  for (const Instruction& instruction : plan.instructions)
    for (const std::int32_t earlier : instruction.waits) result[static_cast<std::size_t>(earlier)] = true;
  return result;
}

std::vector<LaunchGroup> launch_groups(const net::Graph& graph, const Plan& plan) {
  const std::vector<bool> others_wait = waited_for(plan);
  std::vector<LaunchGroup> groups;
  bool may_go_on = false;  // the last group takes another kernel
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    const Instruction& instruction = plan.instructions[i];
    if (instruction.lane() != Lane::compute) continue;
    const bool repeats = !graph.node(instruction.node).operation->depends_on_step;
    const bool waits = !instruction.waits.empty();
    if (!may_go_on || waits || !repeats) {
      const bool begins = groups.empty() || waits;
      if (!groups.empty()) groups.back().ends_stretch = begins;
      groups.push_back({{}, repeats, begins, false});
    }
    groups.back().instructions.push_back(i);
    may_go_on = repeats && !others_wait[i];
  }
  if (!groups.empty()) groups.back().ends_stretch = true;
  return groups;
}

bool recording_wanted() {
  const char* const setting = std::getenv("VOXSWAP_GRAPHS");
  return setting == nullptr || std::string_view(setting) != "0";
}

}  // namespace voxswap::swap
