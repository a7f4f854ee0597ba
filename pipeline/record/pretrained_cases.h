// Cases that score a run although its initial weights were trained on them.
#pragma once

#include <string>
#include <vector>

#include "base/csv.h"
#include "base/file.h"
#include "pipeline/record/identity.h"

namespace voxswap::pipeline {

// The validation cases (`cases`, `split`: of this run) on which another run was trained, by the content of
// their files. Empty if `run_or_file` is neither a run nor weights in its folder; warns if that run has
// changed.
std::vector<std::string> pretrained_cases(const fs::path& run_or_file, const CaseContents& cases,
                                          const Csv& split);

}  // namespace voxswap::pipeline
