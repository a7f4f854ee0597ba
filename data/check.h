// Looks at every case of a data set and tells every problem, never stopping at the first: `voxswap check`.
#pragma once

#include <string>
#include <vector>

#include "data/dataset.h"

namespace voxswap {

struct Problem {
  std::string case_id;   // empty: the data set as a whole
  std::string severity;  // error | warning
  std::string what;      // one sentence, naming the file
  std::string fix;       // what to do about it
};

struct CheckReport {
  Dataset dataset;
  std::vector<Problem> problems;
  std::vector<std::pair<std::string, Size3>> foreground;  // case, extent of the foreground box in voxels
};

// `options` as for open_dataset; a data set that cannot be opened at all throws as there.
CheckReport check_dataset(const DatasetOptions& options, bool corner_background, double background);

}  // namespace voxswap
