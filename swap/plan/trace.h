// One step as a time line for Perfetto (and chrome://tracing): a row per lane, and counters of what each tier
// holds. Format: Trace Event Format, JSON object form, times in microseconds.
#pragma once

#include <string>
#include <vector>

#include "swap/plan/plan.h"

namespace voxswap::swap {

// `begin`, `end`: seconds per instruction, measured (StepReport) or simulated (Simulation).
std::string timeline_json(const net::Graph& graph, const Plan& plan, const std::vector<double>& begin,
                          const std::vector<double>& end);

}  // namespace voxswap::swap
