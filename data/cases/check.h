// `voxswap check`: checks every case of a data set and lists all problems.
#pragma once

#include <vector>

#include "data/cases/check_case.h"
#include "data/layouts/dataset.h"

namespace voxswap::data {

struct CheckReport {
  Dataset dataset;
  std::vector<Problem> problems;
  std::vector<Unused> unused;    // files of the data set's folder that no case uses
  std::vector<CaseFacts> cases;  // in the order of dataset.cases
};

// Throws like open_dataset if the data set cannot be listed.
CheckReport check_dataset(const CheckOptions& options);
// The same for a data set that is already open, or some of its cases.
CheckReport check_listed(Dataset dataset, const CheckOptions& options);

}  // namespace voxswap::data
