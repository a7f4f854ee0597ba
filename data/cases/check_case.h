// Checks one case file by file: every problem is noted, and the rest is checked as well.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "data/layouts/dataset.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

struct Problem {
  std::string case_id;        // empty: the data set as a whole
  std::string severity;       // error | warning
  std::string what;           // one sentence, naming the file
  std::string fix;            // what to do about it
  bool does_not_fit = false;  // there was not the memory to find out
};

// What was found out about a case; what could not be read is missing.
struct CaseFacts {
  std::string id;
  std::optional<Geometry> grid;        // as the first readable channel has it, and
  std::string axes;                    // where its axes point, "LPS"
  std::vector<std::string> elements;   // per channel, how voxels are stored: "int16"
  std::optional<Size3> foreground;     // extent of its box in voxels, canonical axes
  std::map<int, std::int64_t> labels;  // voxels per value of the truth, without the background
  std::vector<std::string> contents;   // per channel, a hash of size and voxels; empty when all are equal
};

struct CheckOptions {
  DatasetOptions data;  // as for open_dataset
  bool corner_background = false;
  double background = 0;
};

// One case; what is wrong with it is added to `problems`.
CaseFacts check_case(const Dataset& dataset, const CaseFiles& files, const CheckOptions& options,
                     std::vector<Problem>& problems);

// The rules for a case's files; each check returns a sentence on failure. Reading stops at the first,
// `voxswap check` collects all.

// Each gives the whole message, naming the file; empty when all is well.
std::string nonfinite_voxels(const fs::path& path, const Image& image);
// A 4D file with more volumes than the data set has channels holds something that nobody named; pictures are
// all in grey or all in colours.
std::string other_volumes(const fs::path& path, std::int64_t volumes, const Dataset& dataset);
std::string unknown_labels(const fs::path& path, const LabelMap& truth, const Dataset& dataset);
// Labels of which the case's truth is not to tell (CaseFiles::told).
std::string untold_labels(const CaseFiles& files, const LabelMap& truth, const Dataset& dataset);
// Whether all eight corners have one value: that of the background.
bool constant_corners(const Image& image);

}  // namespace voxswap::data
