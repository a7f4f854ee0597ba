// The section of data warnings.
#pragma once

#include <string>

#include "pipeline/report/report_parts.h"

namespace voxswap::pipeline {

// As HTML; empty where there is nothing to tell.
std::string data_section(const ReportParts& parts);

}  // namespace voxswap::pipeline
