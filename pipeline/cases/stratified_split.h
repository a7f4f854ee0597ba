// Divides cases into training and validation when grouping matters: cases of one patient stay together, and
// cases of each stratum (a hospital, a grade, a size of the foreground) are spread evenly.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "data/layouts/dataset.h"
#include "pipeline/cases/options.h"

namespace voxswap::pipeline {

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
