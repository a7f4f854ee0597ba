#include "pipeline/predict/predict.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/keys.h"
#include "base/parallel.h"
#include "base/shape.h"
#include "data/prepare/nnunet_recipe.h"
#include "data/volumes/channel_loops.h"

namespace voxswap::pipeline {

namespace {

std::int64_t planes_at_once(const data::Geometry& grid) {
  return std::max<std::int64_t>(1, (std::int64_t{1} << 22) / (grid.size[0] * grid.size[1]));
}

// Along which axis probabilities are not interpolated is decided as in the preprocessing.
std::array<data::LinearAxis, 3> axes_of(const data::PreparedCase& prepared, const LabelDecoder& decoder) {
  std::array<data::LinearAxis, 3> axes;
  std::optional<std::size_t> separate;
  const Spacing& spacing = prepared.original.spacing;
  if (decoder.spacing[0] > 0)
    separate = data::separate_axis(data::spacing_for(decoder.spacing, spacing), spacing);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    axes[axis] = data::linear_axis(prepared.size[axis], prepared.box.size[axis]);
    if (axis != separate) continue;
    for (std::size_t i = 0;
         const std::int64_t at : data::nearest_positions(prepared.size[axis], prepared.box.size[axis]))
      axes[axis].low[i] = axes[axis].high[i] = index(at), axes[axis].weight[i++] = 0;
  }
  return axes;
}

}  // namespace

std::string label_map_name(const data::Dataset& dataset, const std::string& id) {
  return id + (dataset.images ? ".png" : ".nii.gz");
}

Decision::Decision(const data::PreparedCase& prepared, const LabelDecoder& decoder, TakeLabels native,
                   TakeLabels on_training_grid, ProbabilityStore* store)
    : prepared_(prepared),
      decoder_(decoder),
      native_(std::move(native)),
      on_training_grid_(std::move(on_training_grid)),
      store_(store),
      axes_(axes_of(prepared, decoder)) {
  hand_on_background(prepared.box.start[2]);
}

void Decision::add(std::span<const float> planes) {
  const auto plane = static_cast<std::size_t>(prepared_.size[0] * prepared_.size[1]) * decoder_.values.size();
  const std::size_t at_once = plane * std::max<std::size_t>(1, (std::size_t{1} << 24) / plane);
  for (; !planes.empty(); planes = planes.subspan(std::min(at_once, planes.size())))
    take_planes(planes.first(std::min(at_once, planes.size())));
}

void Decision::take_planes(std::span<const float> planes) {
  if (on_training_grid_) on_training_grid_(decoder_.decode(planes));
  slab_.insert(slab_.end(), planes.begin(), planes.end());
  const auto plane = prepared_.size[0] * prepared_.size[1] * std::ssize(decoder_.values);
  const Size3& size = prepared_.box.size;
  end_ += std::ssize(planes) / plane;
  const data::LinearAxis& depth = axes_[2];
  const auto there = std::upper_bound(depth.high.begin(), depth.high.end(), end_ - 1) - depth.high.begin();
  const std::int64_t at_once = store_ != nullptr ? 1 : planes_at_once(prepared_.original);
  for (std::int64_t first = decided_; first < there; first += at_once)
    decide_planes(first, std::min(at_once, there - first));
  decided_ = there;
  const std::int64_t needed =
      decided_ < size[2] ? static_cast<std::int64_t>(depth.low[index(decided_)]) : end_;
  const std::int64_t dropped = std::min(needed, end_) - slab_first_;
  slab_.erase(slab_.begin(), slab_.begin() + dropped * plane);
  slab_first_ += dropped;
}

// Decides on the crop's own grid, where label boundaries are finer than the training grid.
void Decision::decide_planes(std::int64_t first, std::int64_t count) {
  const Size3 &size = prepared_.original.size, &crop = prepared_.box.size;
  std::vector<std::int16_t> planes(index(count * size[0] * size[1]));
  const std::size_t row = index(crop[0]) * decoder_.values.size();
  parallel_ranges(
      index(count * crop[1]), data::elements_per_thread / 8 / row, [&](std::size_t begin, std::size_t end) {
        decide_rows(static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end), first, planes);
      });
  if (store_ != nullptr) store_->add_plane();
  native_(planes);
}

// Rows of these planes of the crop, counted from plane `first`.
void Decision::decide_rows(std::int64_t begin, std::int64_t end, std::int64_t first,
                           std::span<std::int16_t> planes) {
  const Size3& size = prepared_.original.size;
  const VoxelBox& box = prepared_.box;
  const std::size_t channels = decoder_.values.size(), width = index(box.size[0]);
  std::vector<double> blend;
  std::vector<float> row(width * channels);
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t y = i % box.size[1], z = i / box.size[1];
    data::resample_row(slab_, prepared_.size, std::ssize(decoder_.values), slab_first_, axes_, index(y),
                       index(first + z), blend, row);
    if (decoder_.logits)  // stay in half precision, as in nnU-Net
      data::round_to_half(row);
    decoder_.decode_voxels(
        row, planes.subspan(index((z * size[1] + box.start[1] + y) * size[0] + box.start[0]), width));
    if (store_ == nullptr) continue;
    if (decoder_.logits) row = probabilities_of(row, decoder_);
    for (std::size_t c = 0; c < channels; ++c) {
      const std::span<float> to = store_->plane(c).subspan(index(y) * width, width);
      for (std::size_t x = 0; x < width; ++x) to[x] = row[x * channels + c];
    }
  }
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
  if (runs.size() > 1 && runs.front().experiment.preprocess.cascade)
    refuse(runs.front(), runs[1], "one is a cascade");
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

VerifiedRuns verified(const std::vector<TrainedRun>& given, const PredictOptions& how) {
  VerifiedRuns result;
  std::set<fs::path> folders;
  for (const TrainedRun& run : given) {
    const fs::path& folder = run.experiment.output;
    if (!folders.insert(fs::weakly_canonical(folder)).second)
      fail(Exit::usage, "{}: is given twice", folder.string());
    result.runs.push_back(confirmed_for_prediction(run));
    result.trained.push_back(trained_on(result.runs.back().experiment));
  }
  check_alike(result.runs, result.trained, how);
  return result;
}

}  // namespace voxswap::pipeline
