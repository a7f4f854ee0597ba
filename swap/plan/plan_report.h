// How a plan is shown: as plan.json, as text, as a time line and as a picture.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "swap/plan/plan.h"

namespace voxswap::swap {

std::string plan_json(const net::Graph& graph, const Plan& plan);
std::string plan_text(const net::Graph& graph,
                      const Plan& plan);  // the report: peaks per tier, what fills the arena at its fullest

// One step as a time line for Perfetto (and chrome://tracing): a row per lane, and counters of what each tier
// holds. Format: Trace Event Format, JSON object form, times in microseconds.

// `begin`, `end`: seconds per instruction, measured (StepReport) or simulated (Simulation).
std::string timeline_json(const net::Graph& graph, const Plan& plan, const std::vector<double>& begin,
                          const std::vector<double>& end);

// The arena over time as an SVG: every residency a rectangle (instructions across, bytes up), by role and by
// what becomes of it, with the sum of what is live, the budget, and lanes of copies below.
std::string arena_svg(const net::Graph& graph, const Plan& plan);

}  // namespace voxswap::swap
