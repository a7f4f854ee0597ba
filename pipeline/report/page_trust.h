// Sections of folds, post-processing and calibration.
#pragma once

#include <string>

#include "base/filesystem.h"
#include "pipeline/report/report_parts.h"

namespace voxswap::pipeline {

std::string folds_section(const ReportParts& parts);
std::string postprocessing_section(const ReportParts& parts, const fs::path& out);
std::string calibration_section(const ReportParts& parts);

}  // namespace voxswap::pipeline
