// `voxswap check`: looks at every case of a data set and lists all problems.
#pragma once

#include <vector>

#include "data/cases/check_case.h"
#include "data/layouts/dataset.h"

namespace voxswap::data {

struct CheckReport {
  Dataset dataset;
  std::vector<Problem> problems;
  std::vector<Unused> unused;    // what of the data set's folder is of no case
  std::vector<CaseFacts> cases;  // in the order of dataset.cases
};

// A data set that cannot be listed at all throws, as open_dataset does.
CheckReport check_dataset(const CheckOptions& options);
// The same of a data set that was opened, or of a part of its cases.
CheckReport check_listed(Dataset dataset, const CheckOptions& options);

}  // namespace voxswap::data
