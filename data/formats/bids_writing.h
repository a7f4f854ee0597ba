// The text files of a BIDS data set.
#pragma once

#include <string>

#include "data/volumes/volume.h"

namespace voxswap::data {

inline constexpr const char* bids_description_file = "dataset_description.json";

// dataset_description.json, for raw images or for a derivative.
std::string bids_description(const std::string& name);
std::string bids_description(const std::string& name, const std::string& program, const std::string& version);

// dseg.tsv: the names of label values.
std::string bids_labels(const Labels& labels);

// The characters of a name that BIDS allows after "sub-" or "label-": letters and digits.
std::string bids_label(const std::string& name);

}  // namespace voxswap::data
