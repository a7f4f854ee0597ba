// Dice on the page.
#pragma once

#include <string>

#include "pipeline/report/report_parts.h"

namespace voxswap::pipeline {

// As HTML; empty where there is nothing to tell.
std::string answer_section(const ReportParts& parts);
std::string dice_section(const ReportParts& parts);
std::string comparison_section(const ReportParts& parts);

}  // namespace voxswap::pipeline
