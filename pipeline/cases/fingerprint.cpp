#include "pipeline/cases/fingerprint.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "data/cases/check_case.h"
#include "data/cases/read_case.h"
#include "data/layouts/incomplete.h"
#include "data/layouts/open_dataset.h"
#include "data/volumes/orientation.h"
#include "data/volumes/transforms.h"
#include "metrics/box_statistics.h"
#include "metrics/lesions.h"
#include "metrics/overlap.h"

namespace voxswap::pipeline {

namespace {

constexpr unsigned most_threads = 4;  // each holds one case in memory

// The value that all corners share; 0 where they differ.
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
  for (std::size_t i = 0; i < Intensities::ranks.size(); ++i) {
    const auto at = values.begin() + std::llround(Intensities::ranks[i] / 100 * (count - 1));
    std::nth_element(values.begin(), at, values.end());
    result.percentiles[i] = *at;
  }
  return result;
}

std::map<int, LabelExtent> labels_of(const data::Volume& volume, const data::CaseFiles& files) {
  std::map<int, LabelExtent> labels;
  if (files.label != 0) labels[files.label] = {volume.geometry().count(), 1};
  if (!volume.has_truth()) return labels;
  const metrics::Extent& size = volume.truth.geometry.size;
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

bool lacks_a_file(const data::Dataset& dataset, const data::CaseFiles& files) {
  for (std::size_t i = 0; i < files.channels.size(); ++i)
    if (data::channel_trouble(dataset, files, i)) return true;
  return static_cast<bool>(data::truth_trouble(files));
}

template <class Value>
double median(const std::vector<CaseFingerprint>& cases, Value value) {
  std::vector<double> values;
  for (const CaseFingerprint& one : cases) values.push_back(static_cast<double>(value(one)));
  return metrics::quantile(std::move(values), 0.5);
}

data::Size3 median_sides(const std::vector<CaseFingerprint>& cases,
                         const data::Size3& (*sides)(const CaseFingerprint&)) {
  data::Size3 result{};
  for (std::size_t axis = 0; axis < 3; ++axis)
    result[axis] = std::llround(median(cases, [&](const auto& one) { return sides(one)[axis]; }));
  return result;
}

}  // namespace

std::array<double, 3> Fingerprint::median_spacing() const {
  std::array<double, 3> result{};
  for (std::size_t axis = 0; axis < 3; ++axis)
    result[axis] = median(cases, [&](const auto& one) { return one.grid.spacing[axis]; });
  return result;
}

data::Spacing Fingerprint::target_spacing() const {
  std::vector<data::Geometry> grids;
  for (const CaseFingerprint& one : cases) grids.push_back(one.grid);
  return data::target_spacing(grids);
}

data::Size3 Fingerprint::median_size() const {
  return median_sides(
      cases, [](const CaseFingerprint& one) -> const auto& { return one.grid.size; });
}

data::Size3 Fingerprint::median_foreground() const {
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
    const data::Size3& box = one.foreground;
    return 1 - static_cast<double>(box[0] * box[1] * box[2]) / static_cast<double>(one.grid.count());
  });
}

Fingerprint take_fingerprint(const data::DatasetOptions& options) {
  Fingerprint result;
  result.dataset = data::list_dataset(options);
  const std::vector<data::CaseFiles> all = std::move(result.dataset.cases);
  result.dataset.cases.clear();
  std::vector<CaseFingerprint> cases(all.size());
  std::vector<std::string> troubles(all.size());
  Progress progress("reading", "cases", static_cast<std::int64_t>(all.size()));
  std::mutex guard;
  const auto read = [&](std::size_t i) {
    throw_if_interrupted();
    try {
      cases[i] = fingerprint_of(result.dataset, all[i]);
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
      result.unreadable.push_back({all[i].id, troubles[i], lacks_a_file(result.dataset, all[i])});
      continue;
    }
    result.dataset.cases.push_back(all[i]);
    result.cases.push_back(std::move(cases[i]));
  }
  return result;
}

}  // namespace voxswap::pipeline
