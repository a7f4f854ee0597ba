// Cases that lack something: files of some channels, or labels that nobody drew.
#pragma once

#include "base/filesystem.h"
#include "data/layouts/dataset.h"

namespace voxswap::data {

// data.annotated: a CSV with the columns case and labels, names with ; between. The truth of a case that it
// names tells of these labels only: whether anything else is there, nobody knows. Throws Exit::bad_data or
// Exit::usage for a case or a label that there is not.
void read_annotated(Dataset& dataset, const fs::path& table);

// Marks the channels whose files are not there. Of a case that has none at all no channel is marked.
void mark_missing(Dataset& dataset);

// "t1ce in 3, flair in 1 of 20 cases"; empty where no channel is missing.
std::string missing_text(const Dataset& dataset);

}  // namespace voxswap::data
