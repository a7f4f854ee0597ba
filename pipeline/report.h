// Merges finished runs into CSVs, plots and one page that a person looks at.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace voxswap {

// Reads epochs.csv, dice.csv and timing.csv of each run folder (dice.csv may be missing: a run that only
// trained) and writes into `out`: epochs.csv, dice.csv, timing.csv (merged), boxplot.csv, boxplot.svg,
// boxplot.png, epochs.svg, epochs.png, report.html (one self-contained page: what was run, the Dice table,
// the plots inlined, epoch times, slices with truth and prediction when the run has slices/*.png, the
// experiment file). With a single run and out == run the CSVs of the run are left as they are. Throws
// Exit::bad_data for a folder that is no run.
void report(const std::vector<std::filesystem::path>& runs, const std::filesystem::path& out);

}  // namespace voxswap
