#include "pipeline/predict/inference.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/shape.h"
#include "base/text.h"
#include "data/volumes/channel_loops.h"
#include "pipeline/cases/patches.h"
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

void stop_if_asked(const InferenceOptions& options) {
  if (options.may_stop) throw_if_interrupted();
}

}  // namespace

Inference::Inference(std::vector<InferenceMember> members, const Size3& size, std::int64_t channels,
                     std::int64_t outputs, const InferenceOptions& options, Scratch& scratch)
    : members_(std::move(members)), size_(size), channels_(channels), outputs_(outputs), options_(options) {
  const Size3& window = options.window;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (window[axis] > size[axis])
      fail(Exit::usage,
           "the window of {} voxels is larger than the prepared volume of {}. Choose a smaller one",
           resolution_text(window), resolution_text(size));
  }
  if (options.of_images) return;
  if (options.as_nnunet) {
    sums_ = std::make_unique<NnunetSums>(size, window, options.overlap, outputs, scratch);
  } else if (window != size) {
    sums_ = std::make_unique<GaussianSums>(make_windows(size, window, options.overlap), outputs, scratch);
  }
  assert(members_.size() == 1 || (sums_ && !options.as_nnunet));
}

void Inference::advance(const TakePlanes& take) {
  if (!sums_) {
    is_done_ = true;
    const InferenceMember& only = members_.front();
    only.load();
    const std::vector<float> image = only.read({{0, 0, 0}, size_});
    if (options_.mirrored != Axes{} || options_.of_images)
      return take(mirrored_mean(only.session, image, size_));
    bool is_here = false;
    only.session.predict(image, [&](std::span<const float> planes) {
      is_here = true;
      take(planes);
    });
    if (is_here) return;
    const std::vector<float> zeros(index(size_[0] * size_[1] * outputs_));
    for (std::int64_t z = 0; z < size_[2]; ++z) take(zeros);
    return;
  }
  for (const InferenceMember& member : members_) {
    member.load();
    for (const VoxelBox& window : sums_->layer()) add_window(member, window);
  }
  std::vector<float>().swap(mean_);  // other networks need the memory now
  sums_->finish_layer(take);
  is_done_ = sums_->layer().empty();
}

void Inference::add_window(const InferenceMember& member, const VoxelBox& window) {
  stop_if_asked(options_);
  const std::vector<float> image = member.read(window);
  if (options_.mirrored != Axes{})
    return sums_->add(window, 0, mirrored_mean(member.session, image, window.size));
  member.session.predict(image, [&, z = std::int64_t{0}](std::span<const float> planes) mutable {
    sums_->add(window, z, planes);
    z += std::ssize(planes) / (window.size[0] * window.size[1] * outputs_);
  });
}

std::span<const float> Inference::mirrored_mean(Session& session, const std::vector<float>& image,
                                                const Size3& size) {
  const Size3 found = options_.of_images ? Size3{1, 1, 1} : size;
  mean_.resize(index(voxels_in(found) * outputs_));
  float count = 0;
  for (int flips = 0; flips < 8; ++flips) {
    const data::Symmetry mirror = data::symmetry(flips);
    if (!flips_only(mirror, options_.mirrored)) continue;
    stop_if_asked(options_);
    std::int64_t z = 0;
    const auto add = [&](std::span<const float> planes) {
      if (flips == 0)
        std::copy(planes.begin(), planes.end(), mean_.begin() + z * found[0] * found[1] * outputs_);
      else
        data::add_mirrored(planes, z, found, outputs_, options_.of_images ? Axes{} : mirror.flips, mean_);
      z += std::ssize(planes) / (found[0] * found[1] * outputs_);
    };
    if (flips == 0)
      session.predict(image, add);
    else
      session.predict(data::apply(mirror, image, size, channels_), add);
    ++count;
  }
  data::divide(mean_, count);
  return mean_;
}

void infer(Session& session, const data::NormalizedCase& normal, std::int64_t outputs,
           const InferenceOptions& options, const TakePlanes& take) {
  Scratch scratch;
  Inference inference(
      {{session, [&](const VoxelBox& box) { return cut(normal.image, normal.size, box, normal.channels); }}},
      normal.size, normal.channels, outputs, options, scratch);
  while (!inference.is_done()) inference.advance(take);
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
