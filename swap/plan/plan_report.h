// Shows a plan as plan.json, as text, as a time line and as a picture.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "swap/plan/plan.h"

namespace voxswap::swap {

std::string plan_json(const net::Graph& graph, const Plan& plan);
// For people: the peak of each memory, traffic, and the largest values at the peak of the arena.
std::string plan_text(const net::Graph& graph, const Plan& plan);

// One step as a time line for Perfetto (and chrome://tracing): a row per lane, and counters of the bytes in
// each memory. Format: Trace Event Format, JSON object form, times in microseconds. `begin`, `end`: seconds
// per instruction, measured (StepReport) or simulated (Simulation).
std::string timeline_json(const net::Graph& graph, const Plan& plan, const std::vector<double>& begin,
                          const std::vector<double>& end);

// The arena over time as SVG. Every residency is a rectangle (instructions across, bytes up), coloured by
// role and by whether it is kept, swapped or recomputed; with the sum of live bytes, the budget, and the
// copies below.
std::string arena_svg(const net::Graph& graph, const Plan& plan);

}  // namespace voxswap::swap
