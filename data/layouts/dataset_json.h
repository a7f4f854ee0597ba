// dataset.json of the Decathlon and nnU-Net, with all types checked. Fields that the file lacks are empty.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "data/layouts/dataset.h"

namespace voxswap::data {

struct DatasetJson {
  struct Case {
    std::vector<fs::path> images;  // relative to the data set's folder
    fs::path label;                // empty: none
  };
  bool by_nnunet = false;             // it has "channel_names"
  bool by_decathlon = false;          // it has "modality" or "training"
  std::vector<std::string> channels;  // "channel_names" or "modality", ordered by number
  std::vector<std::pair<std::string, std::vector<int>>> labels;  // as written; several values: a region
  std::string file_ending;                                       // ".nii.gz"
  std::vector<Case> training, test;                              // "training", "test"
  std::vector<std::pair<std::string, Case>> cases;               // nnU-Net's "dataset", by case
};

fs::path dataset_json_path(const fs::path& root);

// Returns nullopt if there is no such file. Throws Exit::bad_data naming file and key for invalid JSON and
// unexpected contents.
std::optional<DatasetJson> read_dataset_json(const fs::path& root);

// A run stores a description of its training data, so that new cases can be predicted without it.

// Layout, channels, labels and regions as JSON, and the name of the run; no cases.
std::string description_text(const Dataset& dataset, const std::string& run);
void write_description(const fs::path& path, const Dataset& dataset, const std::string& run);

// Throws Exit::bad_data naming the file if write_description did not write it.
Dataset read_description(const fs::path& path);
// Empty if unknown or if there is no such file.
std::string described_run(const fs::path& path);

}  // namespace voxswap::data
