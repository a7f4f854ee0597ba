// Problems of several cases whose texts differ only in names and numbers, told once.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/file.h"
#include "data/cases/check_case.h"

namespace voxswap::cli {

struct ProblemGroup {
  data::Problem first;  // paths are relative to the data set's folder
  std::vector<std::string> cases;
  std::string what;  // common text, with CASE for the name; empty if the texts still differ
};

// In the order of their first problems. Problems of no case stay alone.
std::vector<ProblemGroup> grouped(const std::vector<data::Problem>& problems, const fs::path& root);

// "case_1: no such file: imagesTr/case_1.nii.gz", or for several cases "3 of 20 cases (case_1, case_2,
// case_7): no such file: imagesTr/CASE.nii.gz". `of_cases`: the number of cases of the data set.
std::string sentence(const ProblemGroup& group, std::size_t of_cases);

}  // namespace voxswap::cli
