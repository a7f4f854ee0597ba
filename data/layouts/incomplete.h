// Incomplete cases: with missing channels, or with labels that were not annotated.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "base/filesystem.h"
#include "data/layouts/dataset.h"

namespace voxswap::data {

// A CSV with the columns case and labels, with ; between: the truth of a case that it names tells of these
// labels only; whether anything else is there, nobody knows. `value` is asked for the value of a label, and
// `asked_by`, a key or an option, named in errors. Throws Exit::bad_data for a case without labels or there
// twice.
using LabelValue = std::function<int(const std::string& label)>;
std::map<std::string, std::set<int>> read_told(const fs::path& table, const std::string& asked_by,
                                               const LabelValue& value);

// data.annotated, such a table with names of labels. Throws as read_told(), and Exit::bad_data or Exit::usage
// for a case or a label that there is not.
void read_annotated(Dataset& dataset, const fs::path& table);

// Marks the channels whose files are not there. Of a case that has none at all no channel is marked.
void mark_missing(Dataset& dataset);

// "t1ce in 3, flair in 1 of 20 cases"; empty where no channel is missing.
std::string missing_text(const Dataset& dataset);

}  // namespace voxswap::data
