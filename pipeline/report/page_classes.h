// The section of classifiers: accuracy and confusion matrix.
#pragma once

#include <string>

#include "pipeline/report/report_parts.h"

namespace voxswap::pipeline {

std::string classes_section(const ReportParts& parts);  // empty where no run gives classes

}  // namespace voxswap::pipeline
