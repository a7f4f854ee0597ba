#include "data/layouts/prediction_input.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "base/keys.h"
#include "base/text.h"
#include "data/formats/dicom.h"
#include "data/formats/formats.h"
#include "data/layouts/folders.h"
#include "data/layouts/incomplete.h"
#include "data/layouts/layouts.h"
#include "data/layouts/open_dataset.h"

namespace voxswap::data {

namespace {

std::optional<Dataset> listed(const DatasetOptions& options) {
  try {
    return list_dataset(options);
  } catch (const Error&) {
    return std::nullopt;  // not of this layout; what is wrong is told when no other fits
  }
}

// Channels of cases that can be predicted; the others are left out when their turn comes.
std::size_t usable_channels(const Dataset& dataset) {
  std::size_t count = 0;
  for (const CaseFiles& files : dataset.cases) {
    std::size_t there = 0;
    bool usable = true;
    for (std::size_t i = 0; i < files.channels.size() && usable; ++i) {
      usable = !channel_trouble(dataset, files, i);
      if (!files.lacks(i)) ++there;
    }
    if (usable) count += there;
  }
  return count;
}

// The data set around a case's folder, with nothing but that case; nothing when there is none.
std::optional<Dataset> dataset_around(DatasetOptions options, const fs::path& folder) {
  options.root = folder.parent_path();
  std::optional<Dataset> around = listed(options);
  if (!around) return std::nullopt;
  std::erase_if(around->cases, [&](const CaseFiles& files) {
    const fs::path& channel = files.first_channel();
    error_code ignored;
    return !fs::equivalent(channel.parent_path(), folder, ignored) &&
           !fs::equivalent(channel.parent_path().parent_path(), folder,
                           ignored);  // DICOM: a folder per series
  });
  if (around->cases.empty()) return std::nullopt;
  return around;
}

// The layout that finds most: the one that is asked for, any, or the training set's.
std::optional<Dataset> best_listing(const DatasetOptions& wanted, const std::string& trained_layout) {
  std::vector<std::string> layouts{wanted.layout};
  for (const std::string& other : {std::string("auto"), trained_layout}) {
    if (std::find(layouts.begin(), layouts.end(), other) == layouts.end()) layouts.push_back(other);
  }
  std::optional<Dataset> best;
  std::size_t most = 0;
  for (const std::string& layout : layouts) {
    DatasetOptions options = wanted;
    options.layout = layout;
    // Patterns that the training set was found by mean nothing to other layouts.
    if (layout != wanted.layout) options.files.clear();
    std::optional<Dataset> found = listed(options);
    const std::size_t usable = found ? usable_channels(*found) : 0;
    if (usable <= most) continue;
    most = usable;
    best = std::move(found);
  }
  return best;
}

// One file: its volumes are the channels, in the order in which the training set's files have them.
Dataset single_case(const Dataset& trained, const fs::path& input) {
  Dataset single = trained;
  CaseFiles files;
  const std::string file_name = input.filename().string();
  files.id = trained.images ? raster_stem(file_name) : image_stem(file_name);
  if (files.id.empty()) files.id = folder_name(input);
  const auto& all = trained.all_modalities;
  for (const std::string& name : trained.modalities) {
    const auto at = std::find(all.begin(), all.end(), name);
    files.channels.push_back(input);
    files.components.push_back(all.size() > 1 || trained.images ? static_cast<int>(at - all.begin()) : -1);
  }
  single.cases = {files};
  return single;
}

}  // namespace

Dataset open_for_prediction(const Dataset& trained, const DatasetOptions& options, const fs::path& input) {
  error_code ignored;
  if (!fs::exists(input, ignored)) fail(Exit::bad_data, "{}: no such file or folder", input.string());
  if (!fs::is_directory(input, ignored) || is_dicom_folder(input)) return single_case(trained, input);

  DatasetOptions wanted = options;
  wanted.root = plain(fs::absolute(input));
  wanted.annotated.clear();  // it is of the cases that were trained on
  // The channels may have other names there, in the same order.
  if (wanted.modalities.empty()) wanted.modalities = trained.modalities;
  if (wanted.modalities.size() != trained.modalities.size())
    fail(Exit::usage, "{}: {}, but the network has {} ({})", key::data_modalities,
         counted(wanted.modalities.size(), "name"), counted(trained.modalities.size(), "channel"),
         join(trained.modalities, ", "));
  wanted.known_modalities = trained.all_modalities;
  wanted.labels = trained.labels;
  wanted.regions = trained.regions;
  Dataset dataset;
  if (auto found = best_listing(wanted, trained.layout)) {
    dataset = std::move(*found);
  } else if (auto around = dataset_around(wanted, wanted.root)) {
    dataset = std::move(*around);
  } else {
    dataset = open_dataset(wanted);  // says what is wrong with it
  }
  log_guesses(dataset);
  dataset.modalities = trained.modalities;
  for (CaseFiles& files : dataset.cases) {
    files.truth.clear();
    files.label = 0;
  }
  return dataset;
}

}  // namespace voxswap::data
