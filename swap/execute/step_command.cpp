#include "swap/execute/step_command.h"

#include <cstdlib>
#include <string_view>

#include "base/shape.h"
#include "net/graph/operation.h"

namespace voxswap::swap {

void read_times(const net::Backend& backend, const net::Event& started,
                const std::vector<StepCommand>& commands, const std::vector<RecordedGroup>& groups,
                bool in_groups, StepReport& report) {
  for (double& seconds : report.busy_seconds) seconds = 0;
  report.stall_seconds = 0;
  report.begin.assign(in_groups ? 0 : commands.size(), 0);
  report.end.assign(in_groups ? 0 : commands.size(), 0);
  double compute_ended = 0;
  const auto add = [&](std::size_t first, std::size_t last) {
    const double begin = backend.elapsed(started, *commands[first].begun),
                 end = backend.elapsed(started, *commands[last].done);
    report.busy_seconds[index(commands[first].lane)] += end - begin;
    if (!in_groups) report.begin[first] = begin, report.end[first] = end;
    if (commands[first].lane != Lane::compute) return;
    if (!commands[first].waits.empty()) report.stall_seconds += begin - compute_ended;
    compute_ended = end;
  };
  std::size_t segment = 0;
  for (const RecordedGroup& group : groups) {
    if (!in_groups) break;
    if (group.begins_segment) segment = group.instructions.front();
    if (group.ends_segment) add(segment, group.instructions.back());
  }
  for (std::size_t i = 0; i < commands.size(); ++i)
    if (!in_groups || commands[i].lane != Lane::compute) add(i, i);
  report.compute_seconds = report.busy_seconds[index(Lane::compute)];
}

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
      if (!groups.empty()) groups.back().ends_segment = begins;
      groups.push_back({{}, repeats, begins, false});
    }
    groups.back().instructions.push_back(i);
    may_go_on = repeats && !others_wait[i];
  }
  if (!groups.empty()) groups.back().ends_segment = true;
  return groups;
}

bool recording_wanted() {
  const char* const setting = std::getenv("VOXSWAP_GRAPHS");
  return setting == nullptr || std::string_view(setting) != "0";
}

}  // namespace voxswap::swap
