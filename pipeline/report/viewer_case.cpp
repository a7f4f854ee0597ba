#include "pipeline/report/viewer_case.h"

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "base/text.h"
#include "data/volumes/gzip.h"
#include "data/volumes/transforms.h"
#include "pipeline/report/html.h"
#include "pipeline/report/slice_view.h"

namespace voxswap::pipeline {

namespace {

using Bytes = std::vector<std::uint8_t>;

Json packed(const Bytes& bytes) {
  return base64(data::gzipped({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
}

// Bounding box of the foreground of all channels and of all labelled voxels.
VoxelBox shown_box(const ViewedCase& what) {
  std::vector<float> backgrounds;
  for (const data::Image& channel : what.volume.channels) backgrounds.push_back(data::corner_value(channel));
  const VoxelBox box = data::foreground_box(what.volume.channels, backgrounds);
  Size3 first = box.start, end{};
  for (std::size_t axis = 0; axis < 3; ++axis) end[axis] = box.start[axis] + box.size[axis];
  for (const data::LabelMap* labels : {&what.volume.truth, &what.prediction}) {
    const Size3& size = labels->geometry.size;
    std::size_t i = 0;
    for (std::int64_t z = 0; z < size[2]; ++z)
      for (std::int64_t y = 0; y < size[1]; ++y)
        for (std::int64_t x = 0; x < size[0]; ++x) {
          if (labels->voxels[i++] == 0) continue;
          const Size3 at = {x, y, z};
          for (std::size_t axis = 0; axis < 3; ++axis) {
            first[axis] = std::min(first[axis], at[axis]);
            end[axis] = std::max(end[axis], at[axis] + 1);
          }
        }
  }
  return {first, {end[0] - first[0], end[1] - first[1], end[2] - first[2]}};
}

// Labels as their index in the list plus 1, since values may not fit into a byte.
Bytes places(const data::LabelMap& labels, const data::Labels& names) {
  std::map<int, std::uint8_t> place;
  for (std::size_t i = 0; i < names.size(); ++i) place[names[i].second] = static_cast<std::uint8_t>(i + 1);
  Bytes bytes;
  bytes.reserve(labels.voxels.size());
  for (const std::int16_t value : labels.voxels) {
    const auto found = place.find(value);
    bytes.push_back(found == place.end() ? std::uint8_t{0} : found->second);
  }
  return bytes;
}

// Doubles the block length along the axis where blocks are shortest in millimetres; returns false if all have
// the maximum length of 8.
bool coarsen(Size3& step, const data::Geometry& geometry) {
  constexpr std::int64_t longest = 8;
  std::size_t finest = 3;
  const auto length = [&](std::size_t axis) {
    return static_cast<double>(step[axis]) * geometry.spacing[axis];
  };
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (step[axis] < longest && geometry.size[axis] > step[axis] &&
        (finest == 3 || length(axis) < length(finest)))
      finest = axis;
  if (finest == 3) return false;
  step[finest] *= 2;
  return true;
}

struct Channel {
  data::Image image;  // the crop
  Window range;       // mapped to 0..255
};

// Wider than the initial display window, so that users can adjust it.
Window range_of(const Window& shown) {
  const float margin = (shown.high - shown.low) / 4;
  return {shown.low - margin, shown.high + margin};
}

// Means over blocks of `step` voxels as greys; the last block may be smaller.
Json greys(const Channel& channel, const Size3& step) {
  const Size3& from = channel.image.geometry.size;
  Size3 to;
  for (std::size_t axis = 0; axis < 3; ++axis) to[axis] = (from[axis] + step[axis] - 1) / step[axis];
  const auto count = static_cast<std::size_t>(voxels_in(to));
  std::vector<double> sums(count, 0);
  std::vector<int> counts(count, 0);
  std::size_t i = 0;
  for (std::int64_t z = 0; z < from[2]; ++z)
    for (std::int64_t y = 0; y < from[1]; ++y)
      for (std::int64_t x = 0; x < from[0]; ++x) {
        const auto at = static_cast<std::size_t>((z / step[2] * to[1] + y / step[1]) * to[0] + x / step[0]);
        sums[at] += static_cast<double>(channel.image.voxels[i++]);
        ++counts[at];
      }
  Bytes bytes(count);
  for (std::size_t k = 0; k < count; ++k)
    bytes[k] = channel.range.grey(static_cast<float>(sums[k] / counts[k]));
  return packed(bytes);
}

// Slice numbering of each axis in the case's file: {first of the crop, +1 or -1, total}.
Json slice_counts(const ViewedCase& what, const VoxelBox& box) {
  const data::Geometry& grid = what.volume.geometry();
  Json counts = Json::array();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const SliceCount count = slice_count(grid, axis, what.volume.stored());
    counts.push_back({count.first + count.step * box.start[axis], count.step, count.of});
  }
  return counts;
}

Json regions_of(const ViewedCase& what) {
  Json regions = Json::array();
  for (const auto& [name, values] : what.regions) {
    Json members = Json::array();
    for (std::size_t i = 0; i < what.labels.size(); ++i)
      if (std::ranges::find(values, what.labels[i].second) != values.end()) members.push_back(i + 1);
    regions.push_back({{"name", name}, {"labels", members}});
  }
  return regions;
}

}  // namespace

std::string viewed_case(const ViewedCase& what, std::int64_t most_bytes) {
  const VoxelBox box = shown_box(what);
  std::vector<Channel> channels;
  Json described = Json::array();
  for (std::size_t i = 0; i < what.volume.channels.size(); ++i) {
    const Window shown = window_of(what.volume.channels[i]);
    channels.push_back({data::crop(what.volume.channels[i], box), range_of(shown)});
    described.push_back({{"name", what.channels[i]},
                         {"range", {channels.back().range.low, channels.back().range.high}},
                         {"window", {shown.low, shown.high}}});
  }
  const data::Geometry& grid = channels.front().image.geometry;
  Json json = {{"size", grid.size},
               {"spacing", grid.spacing},
               {"slices", slice_counts(what, box)},
               {"flat", what.volume.stored().size[2] == 1},
               {"regions", regions_of(what)},
               {"channels", described},
               {"truth", nullptr},
               {"prediction", packed(places(data::crop(what.prediction, box), what.labels))}};
  if (what.volume.has_truth())
    json["truth"] = packed(places(data::crop(what.volume.truth, box), what.labels));
  Size3 step = {1, 1, 1};
  do {
    json["step"] = step;
    json["greys"] = Json::array();
    for (const Channel& channel : channels) json["greys"].push_back(greys(channel, step));
  } while (static_cast<std::int64_t>(json.dump().size()) > most_bytes && coarsen(step, grid));
  return json.dump() + "\n";
}

namespace {

bool is_base64(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) {
    return (c < 0x80 && std::isalnum(c)) || c == '+' || c == '/' || c == '=';
  });
}

bool is_volume(const Json& json) {
  return json.is_string() && is_base64(json.get_ref<const std::string&>());
}

// Checks the format written by viewed_case(), as far as the page depends on it.
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
  Json study = parse_json(read_file(file));
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
