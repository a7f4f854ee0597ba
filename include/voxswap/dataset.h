// Checks a data set: contents and problems.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "voxswap/experiment.h"

namespace voxswap {

struct Problem {
  std::string case_id;   // empty: the data set as a whole
  std::string severity;  // error | warning
  std::string what;      // one sentence that names the file
  std::string fix;       // recommended action
};

struct DatasetReport {
  std::string layout;                               // brats, msd, nnunet, dicom, …
  std::vector<std::string> channels;                // modalities, in the order of the network's inputs
  std::vector<std::pair<std::string, int>> labels;  // name and value
  std::vector<std::string> cases;                   // sorted
  std::vector<Problem> problems;
};

// Reads every file of every case. Throws Error if the data set cannot be listed.
DatasetReport check(const std::string& folder, const std::string& layout = "auto");
DatasetReport check(const Experiment& experiment);

}  // namespace voxswap
