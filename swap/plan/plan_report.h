// A plan in words: for machines and for people.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "swap/plan/plan.h"

namespace voxswap {

std::string plan_json(const Graph& graph, const Plan& plan);
std::string plan_text(const Graph& graph,
                      const Plan& plan);  // the report: peaks per tier, what fills the arena at its fullest

}  // namespace voxswap
