#include "pipeline/report/viewer_blocks.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

namespace voxswap::pipeline {

namespace {

bool is_base64(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return (c < 0x80 && std::isalnum(c)) || c == '+' || c == '/' || c == '=';
  });
}

bool is_volume(const Json& json) {
  return json.is_string() && is_base64(json.get_ref<const std::string&>());
}

// As viewed_case() makes it, as far as that matters to a page.
bool is_study(const Json& json) {
  if (!json.is_object()) return false;
  for (const char* key : {"size", "spacing", "step", "slices", "regions", "channels", "greys"})
    if (!json.contains(key) || !json[key].is_array()) return false;
  return json.contains("truth") && (json["truth"].is_null() || is_volume(json["truth"])) &&
         json.contains("prediction") && is_volume(json["prediction"]) &&
         std::all_of(json["greys"].begin(), json["greys"].end(), is_volume);
}

}  // namespace

std::string data_block(std::string_view type, std::string_view id, std::string_view text) {
  return format("<script type=\"{}\" id=\"{}\">{}</script>\n", type, id, text);
}

std::string script_text(const Json& json) {
  std::string safe;
  for (const char c : json.dump(-1, ' ', false, Json::error_handler_t::replace)) {
    if (c == '<' || c == '>' || c == '&')
      safe += format("\\u{:04x}", static_cast<unsigned>(c));
    else
      safe += c;
  }
  return safe;
}

std::string ViewerBlocks::add(const fs::path& file) {
  Json study = Json::parse(read_file(file), nullptr, false);
  if (!is_study(study)) fail(Exit::bad_data, "{}: is not in the format that a run writes", file.string());
  std::vector<std::string> fresh;
  std::int64_t bytes = 0;
  const auto name = [&](Json& volume) {
    if (volume.is_null()) return;
    const std::string text = volume;
    const auto [place, is_new] = ids_.try_emplace(text, format("viewer-volume-{}", ids_.size() + 1));
    volume = place->second;
    if (!is_new) return;
    fresh.push_back(text);
    bytes += static_cast<std::int64_t>(text.size());
  };
  for (Json& channel : study["greys"]) name(channel);
  name(study["truth"]);
  name(study["prediction"]);
  const std::string description = script_text(study);
  bytes += static_cast<std::int64_t>(description.size());
  if (bytes > room_) {
    for (const std::string& text : fresh) ids_.erase(text);
    return {};
  }
  room_ -= bytes;
  for (const std::string& text : fresh) html_ += data_block("text/plain", ids_.at(text), text);
  const std::string id = format("viewer-study-{}", ++studies_);
  html_ += data_block("application/json", id, description);
  return id;
}

}  // namespace voxswap::pipeline
