// memory.csv: planned contents of each memory over the predicted time of a step.
#pragma once

#include "pipeline/report/tables.h"
#include "swap/model/costs.h"
#include "swap/plan/plan.h"

namespace voxswap::pipeline {

// `host_budget`: what the host pool may take; 0: nobody said.
std::vector<MemoryRow> step_memory(const net::Graph& graph, const swap::Plan& plan,
                                   const swap::CostModel& costs, const std::string& run,
                                   const std::string& resolution, std::int64_t host_budget = 0);

}  // namespace voxswap::pipeline
