#include "swap/execute/step_command.h"

namespace voxswap::swap {

namespace {

std::size_t index(Lane lane) {
  return static_cast<std::size_t>(lane);
}

}  // namespace

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
  std::size_t stretch = 0;
  for (const RecordedGroup& group : groups) {
    if (!in_groups) break;
    if (group.begins_stretch) stretch = group.instructions.front();
    if (group.ends_stretch) add(stretch, group.instructions.back());
  }
  for (std::size_t i = 0; i < commands.size(); ++i)
    if (!in_groups || commands[i].lane != Lane::compute) add(i, i);
  report.compute_seconds = report.busy_seconds[index(Lane::compute)];
}

}  // namespace voxswap::swap
