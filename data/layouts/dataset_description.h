// What a run stores of its training data, so that new cases can be predicted where the training data is not
// available.
#pragma once

#include "base/filesystem.h"
#include "data/layouts/dataset.h"

namespace voxswap::data {

// Layout, channels, labels and regions, as JSON, and which run it is of; no cases.
void write_description(const fs::path& path, const Dataset& dataset, const std::string& run);

// Throws Exit::bad_data naming the file when it is not what write_description wrote.
Dataset read_description(const fs::path& path);
// Empty where that is not known, or there is no such file.
std::string described_run(const fs::path& path);

}  // namespace voxswap::data
