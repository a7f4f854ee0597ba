// The section of runs.
#pragma once

#include <string>

#include "pipeline/report/report_parts.h"

namespace voxswap::pipeline {

// As HTML; empty where there is nothing to tell.
std::string runs_section(const ReportParts& parts);
// When, with what, on which data, for how long: what all runs have in common, and where they differ.
std::string facts_section(const ReportParts& parts);

}  // namespace voxswap::pipeline
