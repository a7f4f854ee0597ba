// The Medical Segmentation Decathlon: dataset.json says what there is, imagesTr and labelsTr hold it, several
// modalities lie in one 4D file. Where dataset.json says too little, the folders are listed instead.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "data/image_io.h"
#include "data/layouts/layouts.h"

namespace voxswap {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

fs::path json_file(const fs::path& root) {
  return root / "dataset.json";
}

Json read_json(const fs::path& root) {
  const fs::path path = json_file(root);
  if (!fs::exists(path)) return Json::object();
  const Json json = Json::parse(read_file(path), nullptr, false);
  if (!json.is_object())
    fail(Exit::bad_data, "{}: is no JSON object; repair it, or remove it to list the folders instead",
         path.string());
  return json;
}

// {"0": "FLAIR", "1": "T1w"} or {"FLAIR": 0, "T1w": 1} -> names by number.
std::vector<std::pair<int, std::string>> numbered(const fs::path& path, const Json& json, const char* key) {
  std::vector<std::pair<int, std::string>> names;
  const auto found = json.find(key);
  if (found == json.end() || !found->is_object()) return names;
  for (const auto& [left, right] : found->items()) {
    try {
      if (right.is_string()) {
        names.push_back({std::stoi(left), right.get<std::string>()});
      } else {
        names.push_back({right.get<int>(), left});
      }
    } catch (const std::exception&) {
      fail(Exit::bad_data, "{}: \"{}\": expected a number and a name, found \"{}\": {}", path.string(), key,
           left, right.dump());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<CaseFiles> listed_cases(const fs::path& root, const Json& json) {
  std::vector<CaseFiles> cases;
  const auto add = [&](const fs::path& image, const fs::path& truth) {
    CaseFiles files;
    files.id = nifti_stem(image.filename().string());
    if (files.id.empty()) files.id = image.stem().string();
    files.channels = {(root / image).lexically_normal()};
    if (!truth.empty()) files.truth = (root / truth).lexically_normal();
    cases.push_back(std::move(files));
  };
  const auto training = json.find("training");
  if (training != json.end() && training->is_array() && !training->empty()) {
    for (const Json& entry : *training) {
      if (entry.is_string()) {
        add(entry.get<std::string>(), {});
      } else if (entry.is_object() && entry.value("image", Json()).is_string()) {
        const Json label = entry.value("label", Json());
        add(entry["image"].get<std::string>(), label.is_string() ? label.get<std::string>() : std::string());
      } else {
        fail(Exit::bad_data, "{}: \"training\": expected {{\"image\": …, \"label\": …}}, found {}",
             json_file(root).string(), entry.dump());
      }
    }
    return cases;
  }
  for (const std::string& name : entries(root / "imagesTr")) {
    const std::string stem = nifti_stem(name);
    if (stem.empty()) continue;
    const fs::path truth = nifti_file(root / "labelsTr", stem);
    add(fs::path("imagesTr") / name, fs::exists(truth) ? truth.lexically_relative(root) : fs::path());
  }
  return cases;
}

// Without a word about it in dataset.json: as many channels as the first readable image has volumes.
std::vector<std::string> counted_modalities(const std::vector<CaseFiles>& cases) {
  for (const CaseFiles& files : cases) {
    if (!fs::exists(files.channels.front())) continue;
    const std::int64_t volumes = read_header(files.channels.front()).volumes;
    std::vector<std::string> names;
    for (std::int64_t i = 0; i < volumes; ++i) names.push_back(volumes == 1 ? "image" : format("channel_{}", i));
    return names;
  }
  return {"image"};
}

// Without a word about them: the values that occur in the first label maps.
Labels observed_labels(const fs::path& root, const std::vector<CaseFiles>& cases) {
  std::set<int> values;
  constexpr std::size_t enough = 20;
  std::size_t looked_at = 0;
  for (const CaseFiles& files : cases) {
    if (looked_at == enough) break;
    if (files.truth.empty() || !fs::exists(files.truth)) continue;
    const LabelMap labels = read_label_map(files.truth);
    values.insert(labels.voxels.begin(), labels.voxels.end());
    ++looked_at;
  }
  Labels labels;
  for (const int value : values) {
    if (value != 0) labels.push_back({format("label_{}", value), value});
  }
  if (!labels.empty()) {
    log::warn(
        "{}: no names of labels there; the first {} label maps hold {} different ones. Name them with "
        "data.labels",
        json_file(root).string(), looked_at, labels.size());
  }
  return labels;
}

std::vector<std::string> named_modalities(const fs::path& root, const Json& json) {
  std::vector<std::string> names;
  for (const auto& [number, written] : numbered(json_file(root), json, "modality")) {
    std::string name = modality_name(written);
    // Two channels of one name could not be told apart in data.modalities.
    if (std::find(names.begin(), names.end(), name) != names.end()) name += format("_{}", number);
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

std::optional<std::string> recognise_msd(const DatasetOptions& options) {
  const Json json = read_json(options.root);
  if (json.contains("channel_names")) return std::nullopt;  // nnU-Net's own layout
  if (json.contains("training") || json.contains("modality")) return "its dataset.json is the Decathlon's";
  if (fs::is_directory(options.root / "imagesTr")) return "it has a folder imagesTr";
  return std::nullopt;
}

Dataset list_msd(const DatasetOptions& options) {
  const Json json = read_json(options.root);
  Dataset dataset;
  dataset.cases = listed_cases(options.root, json);
  dataset.recognised = recognise_msd(options).value_or("");
  dataset.modalities = named_modalities(options.root, json);
  if (dataset.modalities.empty()) dataset.modalities = counted_modalities(dataset.cases);
  for (CaseFiles& files : dataset.cases) {
    files.channels.resize(dataset.modalities.size(), files.channels.front());
    for (std::size_t i = 0; i < dataset.modalities.size(); ++i) {
      files.components.push_back(dataset.modalities.size() == 1 ? -1 : static_cast<int>(i));
    }
  }
  for (const auto& [value, name] : numbered(json_file(options.root), json, "labels")) {
    if (value != 0) dataset.labels.push_back({snake_case(name), value});
  }
  if (dataset.labels.empty() && options.labels.empty())
    dataset.labels = observed_labels(options.root, dataset.cases);
  return dataset;
}

}  // namespace voxswap
