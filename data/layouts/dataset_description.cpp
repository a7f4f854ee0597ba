#include "data/layouts/dataset_description.h"

#include "base/error.h"
#include "base/file.h"
#include "base/filesystem.h"
#include "base/json.h"

namespace voxswap::data {

void write_description(const fs::path& path, const Dataset& dataset, const std::string& run) {
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
  write_file(path, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

Dataset read_description(const fs::path& path) {
  const Json json = Json::parse(read_file(path), nullptr, false);
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
    dataset.images = json.value("images", false);  // of which earlier versions knew nothing
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
  const Json json = Json::parse(read_file(path), nullptr, false);
  const auto found = json.is_object() ? json.find("run") : json.end();
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace voxswap::data
