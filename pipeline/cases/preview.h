// A preview image before training: prepared cases and their augmentation in the first epochs.
#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "pipeline/cases/options.h"

namespace voxswap::pipeline {

struct PreviewOptions {
  std::int64_t cases = 3;                    // the first of the training part, unless they are named
  std::vector<std::string> case_names = {};  // of any part
  std::int64_t epochs = 5;                   // columns beside the prepared case
};

// Writes a PNG: a row per case and channel (with one channel: per view), a column per epoch, regions as
// outlines. Returns what its rows, columns and colours are, a line for each, which the file has as its text
// "Description" too. Throws Exit::usage for a case that is not there.
std::string preview(const RunOptions& options, const PreviewOptions& what, const fs::path& png);

}  // namespace voxswap::pipeline
