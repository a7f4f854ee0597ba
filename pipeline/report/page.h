// report.html: what a person looks at after a run.
#pragma once

#include <filesystem>
#include <string>

#include "pipeline/report/report_parts.h"

namespace voxswap::pipeline {

std::string report_page(const ReportParts& parts, const std::filesystem::path& out);

}  // namespace voxswap::pipeline
