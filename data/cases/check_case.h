// Checks one case file by file: notes every problem and continues.
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
  std::string fix;            // recommended action
  bool does_not_fit = false;  // not enough memory to find out
};

// Facts about a case; empty if unreadable.
struct CaseFacts {
  std::string id;
  std::optional<Geometry> grid;        // of the first readable channel
  std::string axes;                    // axis codes of that grid, "LPS"
  std::vector<std::string> elements;   // per channel, the stored element type: "int16"
  std::optional<Size3> foreground;     // size of its bounding box in voxels, canonical axes
  std::map<int, std::int64_t> labels;  // voxels per value of the ground truth, without background
  std::vector<std::string> contents;   // per channel, a hash of size and voxels; empty for constant images
};

struct CheckOptions {
  DatasetOptions data;  // as for open_dataset
  bool corner_background = false;
  double background = 0;
};

// Checks one case; problems are added to `problems`.
CaseFacts check_case(const Dataset& dataset, const CaseFiles& files, const CheckOptions& options,
                     std::vector<Problem>& problems);

}  // namespace voxswap::data
