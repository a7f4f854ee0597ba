#include "pipeline/predict/predict.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/float16.h"
#include "base/keys.h"
#include "base/shape.h"
#include "data/prepare/nnunet_recipe.h"

namespace voxswap::pipeline {

namespace {

// Copies the voxels of a box to their position in a grid.
template <class T>
void place(const std::vector<T>& voxels, const VoxelBox& box, data::Grid<T>& whole) {
  auto row = voxels.begin();
  for (std::int64_t z = 0; z < box.size[2]; ++z) {
    for (std::int64_t y = 0; y < box.size[1]; ++y, row += box.size[0])
      std::copy(row, row + box.size[0], &whole.at(box.start[0], box.start[1] + y, box.start[2] + z));
  }
}

std::int64_t planes_at_once(const data::Geometry& grid) {
  return std::max<std::int64_t>(1, (std::int64_t{1} << 22) / (grid.size[0] * grid.size[1]));
}

// Along which axis probabilities are not interpolated is decided as in the preprocessing.
std::array<data::LinearAxis, 3> axes_of(const data::PreparedCase& prepared, const LabelDecoder& decoder) {
  std::array<data::LinearAxis, 3> axes;
  std::optional<std::size_t> separate;
  if (decoder.spacing[0] > 0) separate = data::separate_axis(decoder.spacing, prepared.original.spacing);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    axes[axis] = data::linear_axis(prepared.size[axis], prepared.box.size[axis]);
    if (axis != separate) continue;
    for (std::size_t i = 0;
         const std::int64_t at : data::nearest_positions(prepared.size[axis], prepared.box.size[axis]))
      axes[axis].low[i] = axes[axis].high[i] = index(at), axes[axis].weight[i++] = 0;
  }
  return axes;
}

// A part of a channel on the crop's grid. Logits stay in half precision, as in nnU-Net.
std::vector<float> resampled(const std::vector<float>& slab, const data::PreparedCase& prepared,
                             std::int64_t slab_first, const std::array<data::LinearAxis, 3>& axes,
                             std::int64_t first, std::int64_t count, const LabelDecoder& decoder) {
  std::vector<float> values = data::resample_slab(slab, prepared.size, slab_first, axes, first, count);
  if (decoder.logits)
    for (float& value : values) value = from_float16(to_float16(value));
  return values;
}

}  // namespace

std::string label_map_name(const data::Dataset& dataset, const std::string& id) {
  return id + (dataset.images ? ".png" : ".nii.gz");
}

Decision::Decision(const data::PreparedCase& prepared, const LabelDecoder& decoder, TakeLabels native,
                   TakeLabels on_training_grid)
    : prepared_(prepared),
      decoder_(decoder),
      native_(std::move(native)),
      on_training_grid_(std::move(on_training_grid)),
      axes_(axes_of(prepared, decoder)),
      slab_(decoder.values.size()) {
  hand_on_background(prepared.box.start[2]);
}

void Decision::add(std::span<const float> planes) {
  const auto plane = static_cast<std::size_t>(prepared_.size[0] * prepared_.size[1]) * slab_.size();
  const std::size_t at_once = plane * std::max<std::size_t>(1, (std::size_t{1} << 24) / plane);
  for (; !planes.empty(); planes = planes.subspan(std::min(at_once, planes.size())))
    take_planes(planes.first(std::min(at_once, planes.size())));
}

void Decision::take_planes(std::span<const float> planes) {
  const std::size_t channels = slab_.size(), voxels = planes.size() / channels;
  const std::size_t before = slab_.front().size();
  for (std::size_t c = 0; c < channels; ++c) {
    slab_[c].resize(before + voxels);
    for (std::size_t v = 0; v < voxels; ++v) slab_[c][before + v] = planes[v * channels + c];
  }
  std::vector<std::int16_t> labels(voxels);
  std::vector<float> largest(voxels, decoder_.lowest);
  for (const std::size_t c : decoder_.sequence)
    decoder_.take(c, std::span(slab_[c]).subspan(before), largest, labels);
  on_training_grid_(labels);

  const std::int64_t plane = prepared_.size[0] * prepared_.size[1];
  const Size3& size = prepared_.box.size;
  end_ += static_cast<std::int64_t>(voxels) / plane;
  const data::LinearAxis& depth = axes_[2];
  const auto there = std::upper_bound(depth.high.begin(), depth.high.end(), end_ - 1) - depth.high.begin();
  const std::int64_t at_once = planes_at_once(prepared_.original);
  for (std::int64_t first = decided_; first < there; first += at_once)
    decide_planes(first, std::min(at_once, there - first));
  decided_ = there;
  const std::int64_t needed =
      decided_ < size[2] ? static_cast<std::int64_t>(depth.low[index(decided_)]) : end_;
  const std::int64_t dropped = std::min(needed, end_) - slab_first_;
  for (std::vector<float>& one : slab_) one.erase(one.begin(), one.begin() + dropped * plane);
  slab_first_ += dropped;
}

// Decides on the crop's own grid, where label boundaries are finer than the training grid.
void Decision::decide_planes(std::int64_t first, std::int64_t count) {
  const VoxelBox& box = prepared_.box;
  std::vector<std::int16_t> labels(index(count * box.size[0] * box.size[1]));
  std::vector<float> largest(labels.size(), decoder_.lowest);
  for (const std::size_t c : decoder_.sequence)
    decoder_.take(c, resampled(slab_[c], prepared_, slab_first_, axes_, first, count, decoder_), largest,
                  labels);
  data::LabelMap planes{prepared_.original, {}};
  planes.geometry.size[2] = count;
  planes.voxels.resize(index(planes.geometry.count()));
  place(labels, {{box.start[0], box.start[1], 0}, {box.size[0], box.size[1], count}}, planes);
  native_(planes.voxels);
}

void Decision::hand_on_background(std::int64_t planes) {
  const Size3& size = prepared_.original.size;
  const std::int64_t at_once = planes_at_once(prepared_.original);
  const std::vector<std::int16_t> background(index(std::min(planes, at_once) * size[0] * size[1]));
  for (; planes > 0; planes -= at_once)
    native_(std::span(background).first(index(std::min(planes, at_once) * size[0] * size[1])));
}

void Decision::finish() {
  assert(decided_ == prepared_.box.size[2]);
  hand_on_background(prepared_.original.size[2] - prepared_.box.start[2] - prepared_.box.size[2]);
}

TakeLabels append_to(std::vector<std::int16_t>& labels) {
  return [&](std::span<const std::int16_t> planes) {
    labels.insert(labels.end(), planes.begin(), planes.end());
  };
}

Prediction decide(std::span<const float> probabilities, const data::PreparedCase& prepared,
                  const LabelDecoder& decoder) {
  Prediction prediction{{prepared.original, {}}, {prepared.training_geometry(), {}}};
  Decision decision(prepared, decoder, append_to(prediction.native.voxels),
                    append_to(prediction.on_training_grid.voxels));
  decision.add(probabilities);
  decision.finish();
  return prediction;
}

data::Image native_probability(std::span<const float> probabilities, std::size_t channel,
                               std::size_t channels, const data::PreparedCase& prepared) {
  data::Image one{prepared.training_geometry(), std::vector<float>(probabilities.size() / channels)};
  for (std::size_t v = 0; v < one.voxels.size(); ++v) one.voxels[v] = probabilities[v * channels + channel];
  data::Image whole{prepared.original,
                    std::vector<float>(static_cast<std::size_t>(prepared.original.count()))};
  place(data::resample_linear(one, prepared.box.size).voxels, prepared.box, whole);
  return whole;
}

void native_probabilities(std::span<const float> values, const data::PreparedCase& prepared,
                          const LabelDecoder& decoder,
                          const std::function<void(std::size_t, data::Image)>& take) {
  const std::size_t channels = decoder.values.size(), voxels = values.size() / channels;
  if (!decoder.logits && decoder.spacing[0] == 0) {
    for (std::size_t c = 0; c < channels; ++c) take(c, native_probability(values, c, channels, prepared));
    return;
  }
  const std::array<data::LinearAxis, 3> axes = axes_of(prepared, decoder);
  const Size3& size = prepared.box.size;
  std::vector<float> all(index(size[0] * size[1] * size[2]) * channels), one(voxels);
  for (std::size_t c = 0; c < channels; ++c) {
    for (std::size_t v = 0; v < voxels; ++v) one[v] = values[v * channels + c];
    const std::vector<float> part = resampled(one, prepared, 0, axes, 0, size[2], decoder);
    for (std::size_t v = 0; v < part.size(); ++v) all[v * channels + c] = part[v];
  }
  all = probabilities_of(all, decoder);
  for (std::size_t c = 0; c < channels; ++c) {
    std::vector<float> part(all.size() / channels);
    for (std::size_t v = 0; v < part.size(); ++v) part[v] = all[v * channels + c];
    data::Image whole{prepared.original, std::vector<float>(index(prepared.original.count()))};
    place(part, prepared.box, whole);
    take(c, std::move(whole));
  }
}

namespace {

// Settings of a run that affect the use of its network: key and value as text.
std::map<std::string, std::string> used_as(const TrainedRun& run, const PredictOptions& how) {
  std::map<std::string, std::string> values;
  for (const Setting& setting : run.settings) {
    // With a fixed spacing, the resolution only sets the padding, and each network pads as in its training.
    const bool is_padding =
        setting.key == key::preprocess_resolution && run.experiment.preprocess.by_spacing();
    if ((setting.key.starts_with(key::preprocess_section) && !is_padding) ||
        setting.key == key::training_targets)
      values[setting.key] = setting.value;
  }
  values[key::training_loss] =
      net::loss_options(run.experiment.training.loss).classes ? "a soft-max" : "a sigmoid";
  values[key::evaluate_average] = choice_name(run.experiment.evaluate.average);
  if (how.mirror)
    for (const bool axis : data::mirrored_axes(run.experiment.training.augment))
      values[key::training_augment_symmetries] += axis ? "mirrored " : "not mirrored ";
  return values;
}

void refuse(const TrainedRun& one, const TrainedRun& other, const std::string& what) {
  fail(Exit::usage,
       "{} and {} cannot predict together: {}. The runs of an ensemble may differ in fold, seed, training "
       "and network only",
       one.experiment.output.string(), other.experiment.output.string(), what);
}

}  // namespace

std::vector<Member> members_of(const std::vector<TrainedRun>& runs) {
  std::vector<Member> members;
  for (const TrainedRun& run : runs)
    for (std::int64_t repeat = 1; repeat <= run.experiment.training.repeats; ++repeat)
      members.push_back({&run, repeat});
  return members;
}

bool predict_together(const std::vector<TrainedRun>& runs, const PredictOptions& how) {
  return how.ensemble || runs.size() > 1 || runs.front().experiment.evaluate.ensemble;
}

void check_alike(const std::vector<TrainedRun>& runs, const std::vector<data::Dataset>& trained,
                 const PredictOptions& how) {
  const std::map<std::string, std::string> first = used_as(runs.front(), how);
  for (std::size_t i = 1; i < runs.size(); ++i) {
    const data::Dataset &a = trained.front(), &b = trained[i];
    if (a.modalities != b.modalities)
      refuse(runs.front(), runs[i],
             format("their channels are {} and {}", join(a.modalities, ", "), join(b.modalities, ", ")));
    if (a.labels != b.labels || a.regions != b.regions)
      refuse(runs.front(), runs[i], "their labels or regions differ");
    for (const auto& [name, value] : used_as(runs[i], how))
      if (const auto found = first.find(name); found == first.end() || found->second != value)
        refuse(runs.front(), runs[i],
               format("{} is {} and {}", name, found == first.end() ? "unknown" : found->second, value));
  }
}

}  // namespace voxswap::pipeline
