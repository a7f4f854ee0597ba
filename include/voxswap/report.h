// Comparison of finished runs.
#pragma once

#include <string>
#include <vector>

namespace voxswap {

// Writes the runs' tables merged, comparison.csv, plots and report.html into `out`. `force`: overwrites files
// that voxswap did not write. Throws Exit::bad_data for a folder that contains no run.
void report(const std::vector<std::string>& runs, const std::string& out, bool force = false);

}  // namespace voxswap
