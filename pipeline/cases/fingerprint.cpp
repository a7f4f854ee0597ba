#include "pipeline/cases/fingerprint.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/text.h"
#include "data/cases/read_case.h"
#include "data/layouts/incomplete.h"
#include "data/layouts/open_dataset.h"
#include "data/prepare/cache.h"
#include "data/volumes/orientation.h"
#include "data/volumes/transforms.h"
#include "metrics/box_statistics.h"
#include "metrics/lesions.h"
#include "metrics/overlap.h"

namespace voxswap::pipeline {

namespace {

constexpr unsigned most_threads = 4;  // each holds one case in memory
constexpr std::size_t most_sorted = std::size_t{1} << 20;
// Increase when the contents of a fingerprint or its file format change.
constexpr std::string_view format_version = "voxswap fingerprint 1";

// The value shared by all corners; 0 if they differ.
float background_of(const data::Image& image) {
  return data::constant_corners(image) ? data::corner_value(image) : 0;
}

std::optional<Intensities> intensities_of(const data::Image& image, float background) {
  std::vector<float> values;
  double sum = 0, squares = 0;
  for (const float value : image.voxels) {
    if (value == background) continue;
    values.push_back(value);
    sum += value;
  }
  if (values.empty()) return std::nullopt;
  const auto count = static_cast<double>(values.size());
  Intensities result;
  result.mean = sum / count;
  for (const float value : values) squares += (value - result.mean) * (value - result.mean);
  result.deviation = std::sqrt(squares / count);
  const std::size_t step = values.size() / most_sorted + 1, sorted = (values.size() + step - 1) / step;
  for (std::size_t i = 0; i < sorted; ++i) values[i] = values[i * step];
  values.resize(sorted);
  std::sort(values.begin(), values.end());
  for (std::size_t i = 0; i < Intensities::ranks.size(); ++i)
    result.percentiles[i] = values[static_cast<std::size_t>(
        std::llround(Intensities::ranks[i] / 100 * static_cast<double>(sorted - 1)))];
  return result;
}

std::map<int, LabelExtent> labels_of(const data::Volume& volume, const data::CaseFiles& files) {
  std::map<int, LabelExtent> labels;
  if (files.label != 0) labels[files.label] = {volume.geometry().count(), 1};
  if (!volume.has_truth()) return labels;
  const Size3& size = volume.truth.geometry.size;
  const std::vector<std::int16_t>& truth = volume.truth.voxels;
  for (const metrics::LabelPair& found : metrics::label_pairs(truth, truth, size)) {
    const int value[] = {found.truth};
    const metrics::Mask mask = metrics::cut(truth, size, found.box, value);
    labels[found.truth] = {found.voxels,
                           static_cast<std::int64_t>(metrics::connected_components(mask).sizes.size())};
  }
  return labels;
}

CaseFingerprint fingerprint_of(const data::Dataset& dataset, const data::CaseFiles& files) {
  const data::Volume volume = data::read_case(dataset, files);
  CaseFingerprint result;
  result.id = files.id;
  result.grid = volume.geometry();
  result.axes = data::axis_codes(volume.stored());
  std::vector<float> backgrounds;
  for (std::size_t i = 0; i < volume.channels.size(); ++i) {
    backgrounds.push_back(background_of(volume.channels[i]));
    result.background_in_corners = result.background_in_corners || backgrounds.back() != 0;
    result.channels.push_back(files.lacks(i) ? std::nullopt
                                             : intensities_of(volume.channels[i], backgrounds.back()));
  }
  result.foreground = data::foreground_box(volume.channels, backgrounds).size;
  result.labels = labels_of(volume, files);
  return result;
}

CaseFingerprint from_json(const Json& json, const std::vector<std::string>& channels) {
  CaseFingerprint one;
  one.id = json.at("case");
  json.at("size").get_to(one.grid.size);
  json.at("spacing").get_to(one.grid.spacing);
  one.axes = json.at("axes");
  json.at("foreground").get_to(one.foreground);
  one.background_in_corners = json.at("background_in_corners");
  for (const std::string& name : channels) {
    const Json& channel = json.at("channels").at(name);
    std::optional<Intensities>& of = one.channels.emplace_back();
    if (channel.is_null()) continue;
    of.emplace();
    of->mean = channel.at("mean");
    of->deviation = channel.at("deviation");
    for (std::size_t i = 0; i < Intensities::ranks.size(); ++i)
      of->percentiles[i] = channel.at("percentiles").at(number(Intensities::ranks[i]));
  }
  for (const auto& [value, extent] : json.at("labels").items())
    one.labels[std::stoi(value)] = {extent.at("voxels"), extent.at("components")};
  return one;
}

// Stored fingerprints of cases, one file each; the file name is a hash of all inputs.
class FingerprintCache {
 public:
  FingerprintCache(const data::Dataset& dataset, const fs::path& folder)
      : dataset_(dataset), folder_(folder) {
    if (folder_.empty()) return;
    try {
      make_writable_directory(folder_);
    } catch (const Error& error) {
      log::warn("fingerprints cannot be cached: {}", error.what());
      folder_.clear();
    }
  }

  CaseFingerprint get(const data::CaseFiles& files) const {
    if (folder_.empty() || data::lacks_a_file(dataset_, files)) return fingerprint_of(dataset_, files);
    const fs::path path = folder_ / (key(files) + ".json");
    error_code ignored;
    if (fs::exists(path, ignored)) {
      try {
        return from_json(checked_json(read_file(path)), dataset_.modalities);
      } catch (const std::exception& error) {
        log::warn("{}: this cached fingerprint is damaged and is recomputed: {}", path.string(),
                  error.what());
      }
    }
    CaseFingerprint one = fingerprint_of(dataset_, files);
    write_file(path, to_json(one, dataset_.modalities).dump());
    return one;
  }

 private:
  std::string key(const data::CaseFiles& files) const {
    Hasher hasher;
    hasher.add(format_version).add(files.id).add(content_.content(files)).add(std::to_string(files.label));
    hasher.add(dataset_.align ? "aligned" : "").add(std::to_string(dataset_.ignore_label));
    for (const std::string& channel : dataset_.modalities) hasher.add(channel);
    for (const auto& [name, value] : dataset_.labels) hasher.add(std::to_string(value));
    return hasher.digest().substr(0, 32);
  }

  const data::Dataset& dataset_;
  fs::path folder_;
  data::PreparedCache content_{dataset_, {}, {}};
};

template <class Value>
double median(const std::vector<CaseFingerprint>& cases, Value value) {
  std::vector<double> values;
  for (const CaseFingerprint& one : cases) values.push_back(static_cast<double>(value(one)));
  return metrics::quantile(std::move(values), 0.5);
}

Size3 median_sides(const std::vector<CaseFingerprint>& cases, const Size3& (*sides)(const CaseFingerprint&)) {
  Size3 result{};
  for (std::size_t axis = 0; axis < 3; ++axis)
    result[axis] = std::llround(median(cases, [&](const auto& one) { return sides(one)[axis]; }));
  return result;
}

}  // namespace

Spacing Fingerprint::median_spacing() const {
  Spacing result{};
  for (std::size_t axis = 0; axis < 3; ++axis)
    result[axis] = median(cases, [&](const auto& one) { return one.grid.spacing[axis]; });
  return result;
}

Spacing Fingerprint::target_spacing() const {
  std::vector<data::Geometry> grids;
  for (const CaseFingerprint& one : cases) grids.push_back(one.grid);
  return data::target_spacing(grids);
}

Size3 Fingerprint::median_size() const {
  return median_sides(
      cases, [](const CaseFingerprint& one) -> const auto& { return one.grid.size; });
}

Size3 Fingerprint::median_foreground() const {
  return median_sides(
      cases, [](const CaseFingerprint& one) -> const auto& { return one.foreground; });
}

Intensities Fingerprint::median_intensities(std::size_t channel) const {
  std::vector<CaseFingerprint> having;
  std::copy_if(cases.begin(), cases.end(), std::back_inserter(having),
               [&](const auto& one) { return one.channels[channel].has_value(); });
  Intensities result;
  result.mean = median(having, [&](const auto& one) { return one.channels[channel]->mean; });
  result.deviation = median(having, [&](const auto& one) { return one.channels[channel]->deviation; });
  for (std::size_t i = 0; i < result.percentiles.size(); ++i)
    result.percentiles[i] =
        median(having, [&](const auto& one) { return one.channels[channel]->percentiles[i]; });
  return result;
}

double Fingerprint::cropped_away() const {
  return median(cases, [](const CaseFingerprint& one) {
    const Size3& box = one.foreground;
    return 1 - static_cast<double>(voxels_in(box)) / static_cast<double>(one.grid.count());
  });
}

fs::path fingerprint_folder(const fs::path& cache) {
  return cache.empty() ? fs::path() : cache / "fingerprints";
}

Json to_json(const CaseFingerprint& one, const std::vector<std::string>& channels) {
  Json json = {{"case", one.id},
               {"size", one.grid.size},
               {"spacing", one.grid.spacing},
               {"axes", one.axes},
               {"foreground", one.foreground},
               {"background_in_corners", one.background_in_corners},
               {"channels", Json::object()},
               {"labels", Json::object()}};
  for (std::size_t i = 0; i < one.channels.size(); ++i) {
    Json& channel = json["channels"][channels[i]];
    if (!one.channels[i]) continue;
    channel = {{"mean", one.channels[i]->mean}, {"deviation", one.channels[i]->deviation}};
    for (std::size_t p = 0; p < Intensities::ranks.size(); ++p)
      channel["percentiles"][number(Intensities::ranks[p])] = one.channels[i]->percentiles[p];
  }
  for (const auto& [value, extent] : one.labels)
    json["labels"][std::to_string(value)] = {{"voxels", extent.voxels}, {"components", extent.components}};
  return json;
}

Fingerprint take_fingerprint(const data::DatasetOptions& options, const fs::path& folder) {
  Fingerprint result;
  data::DatasetOptions looked_through = options;
  looked_through.all_label_maps = true;
  result.dataset = data::list_dataset(looked_through);
  const std::vector<data::CaseFiles> all = std::move(result.dataset.cases);
  result.dataset.cases.clear();
  const FingerprintCache cache(result.dataset, folder);
  std::vector<CaseFingerprint> cases(all.size());
  std::vector<std::string> troubles(all.size());
  Progress progress("reading", "cases", static_cast<std::int64_t>(all.size()));
  std::mutex guard;
  const auto read = [&](std::size_t i) {
    throw_if_interrupted();
    try {
      cases[i] = cache.get(all[i]);
    } catch (const Error& error) {
      if (error.exit() != Exit::bad_data) throw;
      troubles[i] = error.what();
    }
    const std::lock_guard lock(guard);
    progress.advance();
  };
  parallel_for(all.size(), read, most_threads);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!troubles[i].empty()) {
      result.unreadable.push_back({all[i].id, troubles[i]});
      continue;
    }
    result.dataset.cases.push_back(all[i]);
    result.cases.push_back(std::move(cases[i]));
  }
  return result;
}

}  // namespace voxswap::pipeline
