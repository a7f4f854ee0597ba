// A preview image before training: prepared cases and their augmentation in the first epochs.
#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "pipeline/cases/experiment.h"

namespace voxswap::pipeline {

struct PreviewOptions {
  std::int64_t cases = 3;                    // the first training cases, unless case_names is set
  std::vector<std::string> case_names = {};  // from any part
  std::int64_t epochs = 5;                   // columns after the prepared case
};

// Writes a PNG: a row per case and channel (per view if there is one channel), a column per epoch, regions as
// outlines. Returns a description of rows, columns and colours, one per line, which is also stored in the
// PNG's "Description" text. Throws Exit::usage for an unknown case.
std::string preview(const Experiment& experiment, const PreviewOptions& what, const fs::path& png);

}  // namespace voxswap::pipeline
