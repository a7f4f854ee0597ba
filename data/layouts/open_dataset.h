// From options to a data set: the layout lists its cases, which are then restricted to what the experiment
// needs, and checked.
//
// Layouts are rows of the table in layouts/layouts.cpp; `auto` asks each whether it recognises the folder.
#pragma once

#include <string>
#include <vector>

#include "data/layouts/dataset.h"

namespace voxswap::data {

// Lists the cases. Throws Exit::bad_data for a missing folder, an empty data set or a case that lacks a
// channel (naming the case, the channel and the file that was expected), Exit::usage for options that
// contradict the layout.
Dataset open_dataset(const DatasetOptions& options);

// The same without the check that the files are there: for `voxswap check`, which tells every missing
// one.
Dataset list_dataset(const DatasetOptions& options);

// The check of open_dataset(): that the files of all cases are there.
void check_files(const Dataset& dataset);

// Files are named after cases: throws Exit::bad_data for names that are too long, not UTF-8 or occur twice.
void check_names(const Dataset& dataset);

// Says on the log which series were taken for which channel by reading their names.
void log_guesses(const Dataset& dataset);

std::vector<std::string> layout_names();  // for help texts and error messages

}  // namespace voxswap::data
