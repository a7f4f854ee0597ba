// The normalization of a network's inputs, in a checkpoint's metadata.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "data/prepare/prepare.h"
#include "pipeline/record/checkpoint.h"

namespace voxswap::pipeline {

// What prediction needs of the data set, in a checkpoint's metadata.
std::map<std::string, std::string> normalization_metadata(const data::Normalization& normalization);
// Throws Exit::bad_data where it is not one of so many channels.
data::Normalization normalization_from(const Checkpoint& checkpoint, std::size_t channels,
                                       const std::string& where);

}  // namespace voxswap::pipeline
