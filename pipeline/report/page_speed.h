// The section of time and memory.
#pragma once

#include <string>

#include "pipeline/report/report_parts.h"

namespace voxswap::pipeline {

// As HTML; empty where there is nothing to tell.
std::string speed_section(const ReportParts& parts);
std::string memory_section(const ReportParts& parts);

}  // namespace voxswap::pipeline
