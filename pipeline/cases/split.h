// The split into training and validation cases: seeded, saved as split.csv, reusable.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/csv.h"
#include "base/file.h"
#include "data/layouts/dataset.h"
#include "pipeline/cases/experiment.h"

namespace voxswap::pipeline {

struct Split {
  std::vector<std::size_t> training, validation;  // indices into Dataset::cases, ascending
};

// True if the split is one of several folds, random or from splits_final.json. Otherwise options.fold is
// unused.
bool has_folds(const SplitOptions& options);

// Opens the data set of a run. Cases with missing files are skipped if data.split.file does not name them.
// Throws as data::open_dataset().
data::Dataset open_dataset(const Experiment& experiment);

// Ignores cases without ground truth. Throws Exit::bad_data if either part would be empty or the file names
// an unknown case.
Split make_split(const data::Dataset& dataset, const SplitOptions& options);
const std::vector<CsvColumn>& split_columns();
Csv split_csv(const data::Dataset& dataset, const Split& split);  // case,part
void write_split(const fs::path& path, const data::Dataset& dataset, const Split& split);

// Group and stratified splits: a patient's cases stay in one part, and the cases of each stratum (a hospital,
// a grade, a foreground size) are spread evenly.

// Maps case ids to patients: a column of options.table, the text that matches {patient} in the case's name,
// or with SplitOptions::known the patient that a name of BIDS or BraTS or a DICOM series tells. Empty if no
// grouping is needed: if none was asked for, or no patient is known to have several cases with ground truth.
// With `known`, fewer patients than parts are not grouped, which is logged. Throws Exit::usage for a name
// that does not match the pattern, Exit::bad_data for a case that is not in the table.
std::map<std::string, std::string> patients_of(const data::Dataset& dataset, const SplitOptions& options);

// The validation cases among `cases`. Patients are processed stratum by stratum, those with most cases first,
// otherwise in random order. With folds, each patient joins the fold with the fewest cases of its stratum,
// then the fewest cases overall. Without folds, the validation fraction is maintained along the way.
// Foreground strata are quintiles of patients by labelled volume, which requires reading all ground truth.
std::vector<std::size_t> stratified_validation(const data::Dataset& dataset,
                                               const std::vector<std::size_t>& cases,
                                               const SplitOptions& options);

}  // namespace voxswap::pipeline
