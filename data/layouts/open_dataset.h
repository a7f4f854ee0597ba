// From options to a data set: the layout lists the cases, which are then restricted to what the experiment
// needs, and checked.
//
// Layouts are rows of the table in layouts/layouts.cpp; `auto` uses the first one that recognises the folder.
#pragma once

#include <string>
#include <vector>

#include "data/layouts/dataset.h"

namespace voxswap::data {

// Lists the cases. Throws Exit::bad_data for a missing folder, an empty data set or a case that lacks a
// channel (naming the case, the channel and the expected file), Exit::usage for options that contradict the
// layout.
Dataset open_dataset(const DatasetOptions& options);

// The same without checking that the files exist: for `voxswap check`, which reports every missing file.
Dataset list_dataset(const DatasetOptions& options);

// The check of open_dataset(): the files of all cases exist.
void check_files(const Dataset& dataset);

// Files are named after cases: throws Exit::bad_data for names that are too long, not UTF-8 or duplicated.
void check_names(const Dataset& dataset);

// Logs which series were assigned to which channel by their names.
void log_guesses(const Dataset& dataset);

std::vector<std::string> layout_names();  // for help texts and error messages

}  // namespace voxswap::data
