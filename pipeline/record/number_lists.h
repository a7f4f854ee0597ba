// Lists of numbers in a checkpoint's metadata.
#pragma once

#include <string>
#include <vector>

#include "pipeline/record/checkpoint.h"

namespace voxswap::pipeline {

// A part that is no number is an Exit::bad_data that names `key` and `where`.
std::string numbers_text(const std::vector<double>& values);
std::vector<double> numbers_from(const Checkpoint& checkpoint, const std::string& key,
                                 const std::string& where);

}  // namespace voxswap::pipeline
