// A sweep's section of the report: its plot, its table, and published results for comparison.
#pragma once

#include <string>

#include "pipeline/report/drawing.h"
#include "pipeline/sweep/sweep_results.h"

namespace voxswap::pipeline {

std::string sweep_section(const SweepResults& results, const Csv& figures, const Picture& plot);  // HTML
std::string sweep_page(const SweepResults& results, const std::string& section);  // where there are no runs

}  // namespace voxswap::pipeline
