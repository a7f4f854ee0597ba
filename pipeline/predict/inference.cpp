#include "pipeline/predict/inference.h"

#include <algorithm>
#include <cassert>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "pipeline/predict/nnunet_windows.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

namespace {

using Axes = std::array<bool, 3>;

// Symmetries 0 to 7 only flip axes; each is its own inverse.
bool flips_only(const data::Symmetry& symmetry, const Axes& axes) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (symmetry.flips[axis] && !axes[axis]) return false;
  return true;
}

std::vector<float> mirrored_mean(Session& session, const std::vector<float>& image, const Size3& size,
                                 std::int64_t channels, std::int64_t outputs,
                                 const InferenceOptions& options) {
  const auto stop_if_asked = [&] {
    if (options.may_stop) throw_if_interrupted();
  };
  stop_if_asked();
  std::vector<float> sum = session.predict(image);
  float count = 1;
  for (int flips = 1; flips < 8; ++flips) {
    const data::Symmetry mirror = data::symmetry(flips);
    if (!flips_only(mirror, options.mirrored)) continue;
    ++count;
    stop_if_asked();
    std::vector<float> back = session.predict(data::apply(mirror, image, size, channels));
    if (!options.of_images) back = data::apply(mirror, back, size, outputs);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += back[i];
  }
  for (float& value : sum) value /= count;
  return sum;
}

}  // namespace

void infer(Session& session, const data::NormalizedCase& normal, std::int64_t outputs,
           const InferenceOptions& options, const TakePlanes& take) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (options.window[axis] > normal.size[axis])
      fail(Exit::usage,
           "the window of {} voxels is larger than the prepared volume of {}. Choose a smaller one",
           resolution_text(options.window), resolution_text(normal.size));
  }
  if (options.of_images)
    return take(mirrored_mean(session, normal.image, normal.size, normal.channels, outputs, options));
  const auto compute = [&](const VoxelBox& box) {
    const std::vector<float> image = cut(normal.image, normal.size, box, normal.channels);
    return mirrored_mean(session, image, box.size, normal.channels, outputs, options);
  };
  if (options.as_nnunet)
    return stitch_as_nnunet(normal.size, options.window, options.overlap, outputs, compute, take);
  const Windows windows = make_windows(normal.size, options.window, options.overlap);
  if (windows.count() == 1 && options.mirrored == Axes{}) return session.predict(normal.image, take);
  stitch(windows, outputs, compute, take);
}

std::vector<float> infer(Session& session, const data::NormalizedCase& normal, std::int64_t outputs,
                         const InferenceOptions& options) {
  std::vector<float> whole;
  infer(session, normal, outputs, options,
        [&](std::span<const float> planes) { whole.insert(whole.end(), planes.begin(), planes.end()); });
  return whole;
}

std::size_t most_likely(std::span<const float> probabilities) {
  return static_cast<std::size_t>(std::max_element(probabilities.begin(), probabilities.end()) -
                                  probabilities.begin());
}

ClassRow class_row(const data::Dataset& dataset, const data::CaseFiles& files,
                   std::span<const float> probabilities) {
  assert(probabilities.size() == dataset.labels.size());
  ClassRow row;
  row.case_id = files.id;
  for (std::size_t c = 0; c < dataset.labels.size(); ++c) {
    const auto& [name, value] = dataset.labels[c];
    if (value == files.label) row.truth = name;
    row.probabilities.emplace_back(name, probabilities[c]);
  }
  row.predicted = dataset.labels[most_likely(probabilities)].first;
  return row;
}

std::string accuracy_text(const std::vector<ClassRow>& rows) {
  std::string text;
  for (const Confusion& one : confusions(rows))
    text += format("{}accuracy {:.3f}, {} of {}", text.empty() ? "" : "; ", one.accuracy(), one.right(),
                   counted(one.all(), "image"));
  return text;
}

}  // namespace voxswap::pipeline
