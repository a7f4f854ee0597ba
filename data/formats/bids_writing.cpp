#include "data/formats/bids_writing.h"

#include <cctype>

#include "base/json.h"
#include "base/text.h"

namespace voxswap::data {

std::string bids_description(const std::string& name) {
  return Json{{"Name", name}, {"BIDSVersion", "1.9.0"}, {"DatasetType", "raw"}}.dump(2) + "\n";
}

std::string bids_description(const std::string& name, const std::string& program,
                             const std::string& version) {
  Json json = {{"Name", name}, {"BIDSVersion", "1.9.0"}, {"DatasetType", "derivative"}};
  json["GeneratedBy"] = Json::array({{{"Name", program}, {"Version", version}}});
  return json.dump(2) + "\n";
}

std::string bids_labels(const Labels& labels) {
  std::string text = "index\tname\n0\tbackground\n";
  for (const auto& [name, value] : labels) text += format("{}\t{}\n", value, name);
  return text;
}

std::string bids_label(const std::string& name) {
  std::string label;
  for (const char c : name)
    if (static_cast<unsigned char>(c) < 0x80 && std::isalnum(static_cast<unsigned char>(c))) label += c;
  return label.empty() ? "0" : label;
}

}  // namespace voxswap::data
