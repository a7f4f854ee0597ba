// A plan as text, for machines and for people.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "swap/plan/plan.h"

namespace voxswap::swap {

std::string plan_json(const net::Graph& graph, const Plan& plan);
std::string plan_text(const net::Graph& graph,
                      const Plan& plan);  // the report: peaks per tier, what fills the arena at its fullest

}  // namespace voxswap::swap
