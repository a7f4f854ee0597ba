// The text files of a BIDS data set.
#pragma once

#include <string>

#include "data/volumes/volume.h"

namespace voxswap::data {

inline constexpr const char* bids_description_file = "dataset_description.json";

// dataset_description.json: of scans as they were taken, or of what a program derived from them.
std::string bids_description(const std::string& name);
std::string bids_description(const std::string& name, const std::string& program, const std::string& version);

// dseg.tsv: what the values of label maps mean.
std::string bids_labels(const Labels& labels);

// What BIDS lets stand behind "sub-" or "label-": letters and digits of a name.
std::string bids_label(const std::string& name);

}  // namespace voxswap::data
