#include "data/prediction_input.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "data/dicom.h"

namespace voxswap {

namespace fs = std::filesystem;

namespace {

// The data set around a case's folder, with nothing but that case; nothing when there is none.
std::optional<Dataset> dataset_around(DatasetOptions options, const fs::path& folder) {
  options.root = folder.parent_path();
  try {
    Dataset around = open_dataset(options);
    std::erase_if(around.cases, [&](const CaseFiles& files) {
      const fs::path& channel = files.channels.front();
      std::error_code ignored;
      return !fs::equivalent(channel.parent_path(), folder, ignored) &&
             !fs::equivalent(channel.parent_path().parent_path(), folder,
                             ignored);  // DICOM: a folder per series
    });
    if (!around.cases.empty()) return around;
  } catch (const Error&) {
    // What the folder itself has to say is the more useful message.
  }
  return std::nullopt;
}

std::optional<Dataset> dataset_of(const DatasetOptions& options) {
  try {
    return open_dataset(options);
  } catch (const Error&) {
    return std::nullopt;
  }
}

// One file: its volumes are the channels, in the order in which the training set's files have them.
Dataset single_case(const Dataset& trained, const fs::path& input) {
  Dataset single = trained;
  CaseFiles files;
  files.id = input.filename().string();
  for (const std::string extension : {".nii.gz", ".nii", ".nrrd", ".mha"}) {
    if (!ends_with(files.id, extension)) continue;
    files.id.resize(files.id.size() - extension.size());
    break;
  }
  const auto& all = trained.all_modalities;
  for (const std::string& name : trained.modalities) {
    const auto at = std::find(all.begin(), all.end(), name);
    files.channels.push_back(input);
    files.components.push_back(all.size() > 1 ? static_cast<int>(at - all.begin()) : -1);
  }
  single.cases = {files};
  return single;
}

}  // namespace

Dataset open_for_prediction(const Dataset& trained, const DatasetOptions& options, const fs::path& input) {
  std::error_code ignored;
  if (!fs::exists(input, ignored)) fail(Exit::bad_data, "{}: no such file or folder", input.string());
  if (!fs::is_directory(input, ignored) || is_dicom_folder(input)) return single_case(trained, input);

  DatasetOptions wanted = options;
  wanted.root = fs::absolute(input).lexically_normal();
  if (!wanted.root.has_filename()) wanted.root = wanted.root.parent_path();  // "folder/" is "folder"
  wanted.modalities = trained.modalities;
  wanted.known_modalities = trained.all_modalities;
  wanted.labels = trained.labels;
  wanted.regions = trained.regions;
  DatasetOptions as_trained = wanted;
  as_trained.layout = trained.layout;
  Dataset dataset;
  if (auto found = dataset_of(wanted)) {
    dataset = std::move(*found);
  } else if (auto bare = dataset_of(as_trained)) {
    dataset = std::move(*bare);
  } else if (auto around = dataset_around(wanted, wanted.root)) {
    dataset = std::move(*around);
  } else {
    dataset = open_dataset(wanted);  // says what is wrong with it
  }
  for (CaseFiles& files : dataset.cases) files.truth.clear();
  return dataset;
}

}  // namespace voxswap
