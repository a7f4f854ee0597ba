// The methods of a paper from its runs: data, preprocessing, network, training, evaluation and software.
#pragma once

#include <string>
#include <vector>

#include "pipeline/report/read_runs.h"

namespace voxswap::experiments {

// Markdown with a paragraph per subject, from the resolved experiments. Where runs differ, lists their
// values. Omits what a run's files do not tell.
std::string methods_text(const std::vector<pipeline::RunFolder>& runs);

}  // namespace voxswap::experiments
