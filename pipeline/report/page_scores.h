// The section of Dice.
#pragma once

#include <string>

#include "pipeline/report/report_parts.h"

namespace voxswap::pipeline {

// As HTML; empty where there is nothing to tell.
std::string answer_section(const ReportParts& parts);   // which group is best, in a sentence
std::string ranking_section(const ReportParts& parts);  // all groups, from the best on
std::string dice_section(const ReportParts& parts);
std::string comparison_section(const ReportParts& parts);

}  // namespace voxswap::pipeline
