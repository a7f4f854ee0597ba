// The split into training and validation cases: seeded, saved as split.csv, reusable.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/csv.h"
#include "base/file.h"
#include "data/layouts/dataset.h"
#include "pipeline/cases/options.h"

namespace voxswap::pipeline {

struct Split {
  std::vector<std::size_t> training, validation;  // indices into Dataset::cases, ascending
};

// Is the split one of several folds, drawn or of a splits_final.json? options.fold means nothing otherwise.
bool has_folds(const SplitOptions& options);

// The data set of a run. Of cases that options.split.file does not name, those whose files are missing are no
// part of it. Throws as data::open_dataset().
data::Dataset open_dataset(const RunOptions& options);

// Cases without truth take no part. Throws Exit::bad_data when either part would be empty, or when the file
// names a case that is not there.
Split make_split(const data::Dataset& dataset, const SplitOptions& options);
const std::vector<CsvColumn>& split_columns();
Csv split_csv(const data::Dataset& dataset, const Split& split);  // case,part
void write_split(const fs::path& path, const data::Dataset& dataset, const Split& split);

// Divides cases into training and validation when grouping matters: cases of one patient stay together, and
// cases of each stratum (a hospital, a grade, a size of the foreground) are spread evenly.

// The patient of every case, by its id: a column of options.table, or what stands for {patient} in the case's
// name. Throws Exit::usage for a name that does not fit the pattern, Exit::bad_data for a case that the table
// lacks.
std::map<std::string, std::string> patients_of(const data::Dataset& dataset, const SplitOptions& options);

// The cases that validate, of those in `cases`. Patients come in a random order within their stratum; of
// folds, each goes to the fold that has the fewest cases of that stratum, then the fewest; else the share
// that validates is kept along the way. Strata by foreground are fifths of the patients by the volume that is
// labelled, for which all truths are read.
std::vector<std::size_t> stratified_validation(const data::Dataset& dataset,
                                               const std::vector<std::size_t>& cases,
                                               const SplitOptions& options);

}  // namespace voxswap::pipeline
