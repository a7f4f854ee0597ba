#include "data/layouts/dataset_json.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "base/units.h"
#include "data/formats/placeholders.h"
#include "data/layouts/folders.h"

namespace voxswap::data {

namespace {

// A value for messages: shortened, with invalid UTF-8 replaced.
std::string shown(const Json& value) {
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > 80) text = text.substr(0, 77) + "...";
  return text;
}

class Parser {
 public:
  explicit Parser(const fs::path& root) : path_(dataset_json_path(root)) {
    json_ = parse_json(read_file(path_));
    if (!json_.is_object())
      fail(Exit::bad_data, "{}: is not a JSON object. Repair it, or remove it to list the folders instead",
           path_.string());
  }

  DatasetJson parse() {
    DatasetJson result;
    result.by_nnunet = json_.contains("channel_names");
    result.by_decathlon = json_.contains("modality") || json_.contains("training");
    result.channels = channels(result.by_nnunet ? "channel_names" : "modality");
    result.labels = labels();
    result.file_ending = file_ending();
    result.training = listed("training");
    result.test = listed("test");
    result.cases = cases();
    return result;
  }

 private:
  [[noreturn]] void wrong(const std::string& key, const std::string& expected, const Json& found) const {
    fail(Exit::bad_data, "{}: \"{}\": expected {}, found {}", path_.string(), key, expected, shown(found));
  }

  // The object under the key, or nullptr.
  const Json* object(const char* key, const std::string& expected) const {
    const auto found = json_.find(key);
    if (found == json_.end()) return nullptr;
    if (!found->is_object()) wrong(key, expected, *found);
    return &*found;
  }

  int number(const std::string& key, const Json& value) const {
    if (value.is_number_integer()) {
      const auto wide = value.get<std::int64_t>();
      if (wide >= -32768 && wide <= 32767 && !(value.is_number_unsigned() && wide < 0))
        return static_cast<int>(wide);
    }
    if (value.is_string()) {
      if (const auto read = parse_number<int>(value.get<std::string>())) return *read;
    }
    wrong(key, "a small whole number", value);
  }

  // {"0": "FLAIR", "1": "T1w"} or {"FLAIR": 0, "T1w": 1}; the numbers must be 0, 1, 2, …
  std::vector<std::string> channels(const char* key) const {
    const std::string expected = "numbers and names such as {\"0\": \"T1\", \"1\": \"FLAIR\"}";
    const Json* found = object(key, expected);
    if (found == nullptr) return {};
    std::map<int, std::string> by_number;
    for (const auto& [left, right] : found->items()) {
      const std::optional<int> of_left = parse_number<int>(left);
      const bool number_first = of_left && right.is_string();
      if (!number_first && !right.is_number_integer()) wrong(key, expected, *found);
      const int index = number_first ? *of_left : number(key, right);
      if (!by_number.emplace(index, number_first ? right.get<std::string>() : left).second)
        wrong(key, "each number once", *found);
    }
    std::vector<std::string> names;
    for (const auto& [index, written] : by_number) {
      if (index != static_cast<int>(names.size())) wrong(key, "the numbers 0, 1, 2, …", *found);
      std::string name = modality_name(written);
      if (name.empty()) name = format("channel_{}", index);
      // Two channels with the same name would be ambiguous in data.modalities.
      if (std::find(names.begin(), names.end(), name) != names.end()) name += format("_{}", index);
      names.push_back(std::move(name));
    }
    return names;
  }

  // {"1": "edema"} in the Decathlon, {"edema": 1, "core": [2, 3]} in nnU-Net.
  std::vector<std::pair<std::string, std::vector<int>>> labels() const {
    const std::string expected = "names and values such as {\"background\": 0, \"tumor\": 1}";
    const Json* found = object("labels", expected);
    std::vector<std::pair<std::string, std::vector<int>>> result;
    if (found == nullptr) return result;
    for (const auto& [left, right] : found->items()) {
      const std::optional<int> of_left = parse_number<int>(left);
      std::vector<int> values;
      std::string name = left;
      if (of_left && right.is_string() && !parse_number<int>(right.get<std::string>())) {
        values = {*of_left};
        name = right.get<std::string>();
      } else if (right.is_array()) {
        for (const Json& value : right) values.push_back(number("labels", value));
        if (values.empty()) wrong("labels", "at least one value for " + left, right);
      } else {
        values = {number("labels", right)};
      }
      name = snake_case(name);
      result.emplace_back(name.empty() ? format("label_{}", values[0]) : name, values);
    }
    return result;
  }

  std::string file_ending() const {
    const auto found = json_.find("file_ending");
    if (found == json_.end()) return {};
    if (!found->is_string() || !found->get<std::string>().starts_with("."))
      wrong("file_ending", "an ending such as \".nii.gz\"", *found);
    return found->get<std::string>();
  }

  DatasetJson::Case pair(const std::string& key, const Json& entry) const {
    const std::string expected = "{\"image\": …, \"label\": …}";
    if (entry.is_string()) return {{entry.get<std::string>()}, {}};
    if (!entry.is_object() || !entry.contains("image") || !entry["image"].is_string())
      wrong(key, expected, entry);
    DatasetJson::Case result{{entry["image"].get<std::string>()}, {}};
    if (entry.contains("label")) {
      if (!entry["label"].is_string()) wrong(key, expected, entry);
      result.label = entry["label"].get<std::string>();
    }
    return result;
  }

  std::vector<DatasetJson::Case> listed(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end() || found->is_null()) return {};
    if (!found->is_array()) wrong(key, "a list", *found);
    std::vector<DatasetJson::Case> result;
    for (const Json& entry : *found) result.push_back(pair(key, entry));
    return result;
  }

  std::vector<std::pair<std::string, DatasetJson::Case>> cases() const {
    const std::string expected = "{\"CASE\": {\"images\": […], \"label\": …}}";
    const Json* found = object("dataset", expected);
    std::vector<std::pair<std::string, DatasetJson::Case>> result;
    if (found == nullptr) return result;
    for (const auto& [id, entry] : found->items()) {
      if (id.empty() || id.find('/') != std::string::npos || !entry.is_object() ||
          !entry.contains("images") || !entry["images"].is_array())
        wrong("dataset", expected, entry);
      DatasetJson::Case files;
      for (const Json& image : entry["images"]) {
        if (!image.is_string()) wrong("dataset", expected, entry);
        files.images.emplace_back(image.get<std::string>());
      }
      if (entry.contains("label")) {
        if (!entry["label"].is_string()) wrong("dataset", expected, entry);
        files.label = entry["label"].get<std::string>();
      }
      result.emplace_back(id, std::move(files));
    }
    return result;
  }

  fs::path path_;
  Json json_;
};

}  // namespace

fs::path dataset_json_path(const fs::path& root) {
  return root / "dataset.json";
}

std::optional<DatasetJson> read_dataset_json(const fs::path& root) {
  error_code ignored;
  const fs::path path = dataset_json_path(root);
  if (!fs::exists(path, ignored)) return std::nullopt;
  if (!fs::is_regular_file(path, ignored))
    fail(Exit::bad_data, "{}: is not a file. Put a dataset.json there or remove it", path.string());
  if (const std::string placeholder = placeholder_at(path); !placeholder.empty())
    fail(Exit::bad_data, "{}: {}", path.string(), placeholder);
  return Parser(root).parse();
}

std::string description_text(const Dataset& dataset, const std::string& run) {
  Json json = {{"run", run},
               {"root", dataset.root.string()},
               {"layout", dataset.layout},
               {"recognised", dataset.recognised},
               {"modalities", dataset.modalities},
               {"all_modalities", dataset.all_modalities},
               {"labels", Json::object()},
               {"regions", Json::object()},
               {"ignore_label", dataset.ignore_label},
               {"align", dataset.align},
               {"images", dataset.images},
               {"classes", dataset.classes}};
  for (const auto& [name, value] : dataset.labels) json["labels"][name] = value;
  for (const auto& [name, values] : dataset.regions) json["regions"][name] = values;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void write_description(const fs::path& path, const Dataset& dataset, const std::string& run) {
  write_file(path, description_text(dataset, run));
}

Dataset read_description(const fs::path& path) {
  const Json json = parse_json(read_file(path));
  Dataset dataset;
  try {
    dataset.root = json.at("root").get<std::string>();
    dataset.layout = json.at("layout").get<std::string>();
    dataset.recognised = json.at("recognised").get<std::string>();
    dataset.modalities = json.at("modalities").get<std::vector<std::string>>();
    dataset.all_modalities = json.at("all_modalities").get<std::vector<std::string>>();
    for (const auto& [name, value] : json.at("labels").items())
      dataset.labels.emplace_back(name, value.get<int>());
    for (const auto& [name, values] : json.at("regions").items())
      dataset.regions.emplace_back(name, values.get<std::vector<int>>());
    dataset.align = json.at("align").get<bool>();
    dataset.images = json.value("images", false);  // not written by earlier versions
    dataset.ignore_label = json.value("ignore_label", 0);
    dataset.classes = json.value("classes", false);
  } catch (const Json::exception&) {
    fail(Exit::bad_data,
         "{}: is not a description of a data set by voxswap. Remove it, and the data is listed again",
         path.string());
  }
  return dataset;
}

std::string described_run(const fs::path& path) {
  if (!fs::exists(path)) return {};
  const Json json = parse_json(read_file(path));
  const auto found = json.is_object() ? json.find("run") : json.end();
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace voxswap::data
