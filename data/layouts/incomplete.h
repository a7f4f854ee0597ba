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

// Reads a CSV with the columns case and labels (separated by ;): only these labels were annotated in the
// case. `value` returns the value of a label; `asked_by` is a key or an option, named in errors. Throws
// Exit::bad_data for a case without labels or listed twice.
using LabelValue = std::function<int(const std::string& label)>;
std::map<std::string, std::set<int>> read_annotated_labels(const fs::path& table, const std::string& asked_by,
                                                           const LabelValue& value);

// Reads data.annotated, such a table with names of labels. Throws like read_annotated_labels(), and
// Exit::bad_data or Exit::usage for an unknown case or label.
void read_annotated(Dataset& dataset, const fs::path& table);

// Marks the channels without a file. A case without any file is not marked.
void mark_missing(Dataset& dataset);

// "t1ce in 3, flair in 1 of 20 cases"; empty if no channel is missing.
std::string missing_text(const Dataset& dataset);

// Checks the files of a case before reading: whether the file of a channel or the ground truth exists, is a
// regular file or folder, and is unambiguous. Empty if so.
struct FileTrouble {
  std::string what, fix;
  explicit operator bool() const { return !what.empty(); }
};
FileTrouble channel_trouble(const Dataset& dataset, const CaseFiles& files, std::size_t channel);
FileTrouble truth_trouble(const CaseFiles& files);
bool lacks_a_file(const Dataset& dataset, const CaseFiles& files);  // any of these

// Files in the data set's folder that no case uses: a series without a known sequence, a label map without an
// image, an empty folder. They are listed because an overlooked image would otherwise go unnoticed.

// Sorted by path. Looks at names, and into folders for DICOM files; reads no images.
std::vector<Unused> unused_in(const Dataset& dataset);

// Entries with the same reason, grouped: "labelsTr/a.nii.gz and 3 others".
struct UnusedGroup {
  std::string severity, what, why;
  std::size_t count = 0;
};
std::vector<UnusedGroup> grouped(const std::vector<Unused>& unused, const fs::path& root);

}  // namespace voxswap::data
