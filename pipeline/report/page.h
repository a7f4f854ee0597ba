// report.html: what a person looks at after a run.
#pragma once

#include <string>

#include "base/filesystem.h"
#include "pipeline/report/report_parts.h"

namespace voxswap::pipeline {

std::string report_page(const ReportParts& parts, const fs::path& out);

}  // namespace voxswap::pipeline
