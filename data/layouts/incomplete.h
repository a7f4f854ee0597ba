// Incomplete cases: with missing channels, or with labels that were not annotated.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
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

// Checks whether the files of a case exist and can be used, before any of them is read.
// What is wrong with the file of a channel, or with the truth, before it is read: it is not there, is no
// file, or it is not clear which one it is. Empty when all is well.
struct FileTrouble {
  std::string what, fix;
  explicit operator bool() const { return !what.empty(); }
};
FileTrouble channel_trouble(const Dataset& dataset, const CaseFiles& files, std::size_t channel);
FileTrouble truth_trouble(const CaseFiles& files);
bool lacks_a_file(const Dataset& dataset, const CaseFiles& files);  // any of these

// Files in the folder of a data set that belong to no case: a series without a known sequence, a label map
// without an image, an empty folder. They are listed, because nobody would notice an overlooked image.

// In the order of their paths. Looks at names, and into folders for DICOM files; reads no image.
std::vector<Unused> unused_in(const Dataset& dataset);

// The same thing said of several: "labelsTr/a.nii.gz and 3 others".
struct UnusedGroup {
  std::string severity, what, why;
  std::size_t count = 0;
};
std::vector<UnusedGroup> grouped(const std::vector<Unused>& unused, const fs::path& root);

}  // namespace voxswap::data
