// The slice viewer of the report.
#pragma once

#include <string>

#include "pipeline/report/report_parts.h"

namespace voxswap::pipeline {

// A section with the cases of every group (of many groups, the best and the worst) and as many of their
// volumes, from the worst case on, as output.viewer has room for. Empty where no run has volumes to look
// into.
std::string viewer_section(const ReportParts& parts);

}  // namespace voxswap::pipeline
