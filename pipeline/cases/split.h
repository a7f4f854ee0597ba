// The split into training and validation cases: seeded, saved as split.csv, reusable.
#pragma once

#include <string>
#include <vector>

#include "base/csv.h"
#include "base/filesystem.h"
#include "pipeline/cases/options.h"

namespace voxswap::pipeline {

struct Split {
  std::vector<std::size_t> training, validation;  // indices into Dataset::cases, ascending
};

// Is the split one of several folds, drawn or of a splits_final.json? options.fold means nothing otherwise.
bool has_folds(const SplitOptions& options);

// Cases without truth take no part. Throws Exit::bad_data when either part would be empty, or when the file
// names a case that is not there.
Split make_split(const data::Dataset& dataset, const SplitOptions& options);
const std::vector<CsvColumn>& split_columns();
Csv split_csv(const data::Dataset& dataset, const Split& split);  // case,part
void write_split(const fs::path& path, const data::Dataset& dataset, const Split& split);

}  // namespace voxswap::pipeline
