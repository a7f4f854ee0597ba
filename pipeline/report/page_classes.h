// Classes of images on the page: how many were right, and what was taken for what.
#pragma once

#include <string>

#include "pipeline/report/report_parts.h"

namespace voxswap::pipeline {

std::string classes_section(const ReportParts& parts);  // empty where no run gives classes

}  // namespace voxswap::pipeline
