// The Medical Segmentation Decathlon: dataset.json lists the cases, imagesTr and labelsTr contain the files,
// and several modalities are stored in one 4D file. If dataset.json lacks entries, the folders are listed
// instead. A folder that contains only images (imagesTs itself, images to predict) works too.
#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/keys.h"
#include "base/text.h"
#include "data/formats/image_io.h"
#include "data/layouts/dataset.h"
#include "data/layouts/dataset_json.h"
#include "data/layouts/folders.h"
#include "data/layouts/layouts.h"

namespace voxswap::data {

namespace {

CaseFiles case_of(const fs::path& root, const fs::path& image, const fs::path& truth) {
  CaseFiles files;
  files.id = nifti_stem(image.filename().string());
  if (files.id.empty()) files.id = image.stem().string();
  files.channels = {plain(seen_from(root, image))};
  if (!truth.empty()) files.truth = plain(seen_from(root, truth));
  return files;
}

void add_folder(const fs::path& root, const fs::path& folder, std::vector<CaseFiles>& cases) {
  for (const std::string& name : entries(root / folder)) {
    const std::string stem = nifti_stem(name);
    if (stem.empty()) continue;
    const fs::path truth = nifti_file(root / "labelsTr", stem);
    error_code ignored;
    const bool known = folder == "imagesTr" && fs::exists(truth, ignored);
    cases.push_back(case_of(root, folder / name, known ? truth.lexically_relative(root) : fs::path()));
  }
}

// The cases in dataset.json, else the files in the folders. Test images are often not downloaded; missing
// ones are skipped.
std::vector<CaseFiles> listed_cases(const fs::path& root, const std::optional<DatasetJson>& json) {
  std::vector<CaseFiles> cases;
  error_code ignored;
  const bool listed = json && !json->training.empty();
  if (listed) {
    for (const auto& entry : json->training) cases.push_back(case_of(root, entry.images[0], entry.label));
    for (const auto& entry : json->test) {
      if (fs::exists(seen_from(root, entry.images[0]), ignored))
        cases.push_back(case_of(root, entry.images[0], {}));
    }
    return cases;
  }
  for (const char* folder : {"imagesTr", "imagesTs"}) add_folder(root, folder, cases);
  if (cases.empty()) add_folder(root, "", cases);
  return cases;
}

// If dataset.json has no channels: as many as the first existing image has volumes.
std::vector<std::string> counted_modalities(const std::vector<CaseFiles>& cases) {
  for (const CaseFiles& files : cases) {
    error_code ignored;
    if (!fs::exists(files.channels.front(), ignored)) continue;
    const std::int64_t volumes = read_header(files.channels.front()).volumes;
    if (volumes == 1) break;
    if (volumes > 1000) {
      fail(Exit::bad_data, "{}: holds {}, which is too many to be channels", files.channels.front().string(),
           counted(volumes, "volume"));
    }
    std::vector<std::string> names;
    for (std::int64_t i = 0; i < volumes; ++i) names.push_back(format("channel_{}", i));
    return names;
  }
  return {"image"};
}

void name_labels(const fs::path& root, const std::optional<DatasetJson>& json, Dataset& dataset) {
  if (!json) return;
  for (const auto& [name, values] : json->labels) {
    if (values.size() > 1) {
      fail(Exit::bad_data, "{}: \"labels\": {} has {}. Lists of values are used by nnU-Net, and {} is msd",
           dataset_json_path(root).string(), name, counted(values.size(), "value"), key::data_layout);
    }
    if (values[0] != 0) dataset.labels.emplace_back(name, values[0]);
  }
  std::sort(dataset.labels.begin(), dataset.labels.end(),
            [](const auto& a, const auto& b) { return a.second < b.second; });
}

}  // namespace

std::optional<std::string> recognise_msd(const DatasetOptions& options) {
  const std::optional<DatasetJson> json = read_dataset_json(options.root);
  if (json && json->by_nnunet) return std::nullopt;
  if (json && json->by_decathlon) return "its dataset.json is that of the Decathlon";
  error_code ignored;
  for (const char* folder : {"imagesTr", "imagesTs"}) {
    if (fs::is_directory(options.root / folder, ignored)) return format("it has a folder {}", folder);
  }
  return std::nullopt;
}

Dataset list_msd(const DatasetOptions& options) {
  const std::optional<DatasetJson> json = read_dataset_json(options.root);
  Dataset dataset;
  dataset.cases = listed_cases(options.root, json);
  dataset.recognised = recognise_msd(options).value_or("");
  if (json) dataset.modalities = json->channels;
  if (dataset.modalities.empty()) dataset.modalities = options.known_modalities;
  if (dataset.modalities.empty()) dataset.modalities = counted_modalities(dataset.cases);
  for (CaseFiles& files : dataset.cases) {
    files.channels.resize(dataset.modalities.size(), files.channels.front());
    for (std::size_t i = 0; i < dataset.modalities.size(); ++i) {
      files.components.push_back(dataset.modalities.size() == 1 ? -1 : static_cast<int>(i));
    }
  }
  name_labels(options.root, json, dataset);
  if (dataset.labels.empty() && options.labels.empty()) dataset.labels = observed_labels(dataset, options);
  return dataset;
}

}  // namespace voxswap::data
