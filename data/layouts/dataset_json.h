// dataset.json of the Decathlon and nnU-Net, with every type checked. What the file does not have is empty
// here.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/filesystem.h"

namespace voxswap::data {

struct DatasetJson {
  struct Case {
    std::vector<fs::path> images;  // relative to the data set's folder
    fs::path label;                // empty: none
  };
  bool by_nnunet = false;             // it has "channel_names"
  bool by_decathlon = false;          // it has "modality" or "training"
  std::vector<std::string> channels;  // "channel_names" or "modality", in the order of their numbers
  std::vector<std::pair<std::string, std::vector<int>>> labels;  // as written; several values: a region
  std::string file_ending;                                       // ".nii.gz"
  std::vector<Case> training, test;                              // "training", "test"
  std::vector<std::pair<std::string, Case>> cases;               // nnU-Net's "dataset": by case
};

fs::path dataset_json_path(const fs::path& root);

// Nothing when there is no such file. Throws Exit::bad_data, naming file and key, for what is no JSON or
// holds something else than it should.
std::optional<DatasetJson> read_dataset_json(const fs::path& root);

}  // namespace voxswap::data
