#include "pipeline/cases/cases.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/heap_retention.h"
#include "base/interrupt.h"
#include "base/keys.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/text.h"
#include "net/networks/networks.h"
#include "pipeline/cases/patches.h"

namespace voxswap::pipeline {

namespace {

template <class Case>
std::int64_t bytes_of(const Case& one) {
  return static_cast<std::int64_t>(one.image.size() * sizeof(float) +
                                   one.truth.size() * sizeof(std::int16_t));
}

// True if the loss has one class per voxel, which includes the background.
bool has_background(const data::Dataset& dataset, const TrainingOptions& training) {
  return net::loss_options(training.loss).classes && !dataset.classes;
}

data::Regions region_targets(const data::Dataset& dataset, const TrainingOptions& training) {
  if (training.targets == Targets::labels) return {};
  data::Regions regions = dataset.regions;
  if (training.targets == Targets::both)
    std::erase_if(regions, [&](const auto& region) {
      return std::any_of(dataset.labels.begin(), dataset.labels.end(),
                         [&](const auto& label) { return region.second == std::vector<int>{label.second}; });
    });
  return regions;
}

// Names and label values of the output channels.
data::Regions outputs_of(const data::Dataset& dataset, const TrainingOptions& training) {
  data::Regions outputs = region_targets(dataset, training);
  if (has_background(dataset, training)) outputs.push_back({"background", {0}});
  if (training.targets != Targets::regions)
    for (const auto& [name, value] : dataset.labels) outputs.push_back({name, {value}});
  return outputs;
}

// The target of each label.
std::vector<std::uint8_t> targets_of_labels(const data::Dataset& dataset, const TrainingOptions& training,
                                            const std::vector<std::vector<int>>& classes) {
  if (dataset.classes) return {};
  std::vector<std::int16_t> labels(std::size_t{1} << 16);
  std::iota(labels.begin(), labels.end(), std::int16_t{0});
  return net::loss_options(training.loss).classes ? data::target_classes(labels, classes)
                                                  : data::target_bits(labels, classes);
}

}  // namespace

std::vector<std::vector<int>> output_classes(const data::Dataset& dataset, const TrainingOptions& training) {
  std::vector<std::vector<int>> classes;
  for (const auto& [name, values] : outputs_of(dataset, training)) classes.push_back(values);
  return classes;
}

std::size_t region_outputs(const data::Dataset& dataset, const TrainingOptions& training) {
  return region_targets(dataset, training).size();
}

std::vector<std::string> output_names(const data::Dataset& dataset, const TrainingOptions& training) {
  std::vector<std::string> names;
  for (const auto& [name, values] : outputs_of(dataset, training)) names.push_back(name);
  return names;
}

std::int64_t output_count(const data::Dataset& dataset, const TrainingOptions& training) {
  std::vector<std::string> names = output_names(dataset, training);
  const std::size_t count = names.size();
  std::sort(names.begin(), names.end());
  if (const auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end())
    fail(Exit::usage,
         "{}: {}: '{}' is the name of a label and of a region with several labels. Rename one of them in {}",
         key::training_targets, choice_name(training.targets), *twice, key::data_regions);
  if (count == 0) {
    fail(Exit::usage, "{}: {} gives no output channel. Name the ones that you need in {}",
         key::training_targets, choice_name(training.targets),
         training.targets == Targets::regions ? key::data_regions : key::data_labels);
  }
  return static_cast<std::int64_t>(count);
}

net::Unknown unknown_in(const data::Dataset& dataset) {
  const bool partly = std::any_of(dataset.cases.begin(), dataset.cases.end(),
                                  [](const data::CaseFiles& files) { return files.annotated.has_value(); });
  if (partly) return net::Unknown::outputs;
  return dataset.ignore_label != 0 ? net::Unknown::voxels : net::Unknown::nothing;
}

std::int64_t input_channels(const data::Dataset& dataset, const Experiment& experiment) {
  return std::ssize(dataset.modalities) + (experiment.preprocess.cascade ? std::ssize(dataset.labels) : 0);
}

void check_trains(const Experiment& experiment) {
  if (experiment.preprocess.cascade)
    fail(Exit::usage, "{}: the second network of a cascade can be imported and used, but not trained",
         key::preprocess_cascade);
}

void check_suits(const Experiment& experiment, const data::Dataset& dataset) {
  const std::string& network = experiment.network.name;
  const bool images = net::takes_images(network), sliced = experiment.preprocess.slices != data::Slices::none;
  if (dataset.images && !images)
    fail(Exit::usage,
         "{}: {} needs volumes, but the data set has 2D images (layout {}). Use deeplabv3 or a resnet",
         key::network_name, network, dataset.layout);
  if (dataset.images && sliced)
    fail(Exit::usage, "{}: {} needs volumes, but the data set has 2D images (layout {}). Leave it out",
         key::preprocess_slices, choice_name(experiment.preprocess.slices), dataset.layout);
  if (!dataset.images && images && !sliced)
    fail(Exit::usage, "{}: {} needs 2D images, but the data set has volumes (layout {}). Set {}: axial",
         key::network_name, network, dataset.layout, key::preprocess_slices);
  if (dataset.classes != net::classifies_images(network))
    fail(Exit::usage,
         "{}: {} predicts a label for {}, but the data set has one for each {} (layout {}). Use {}",
         key::network_name, network, dataset.classes ? "every voxel" : "a whole image",
         dataset.classes ? "image" : "voxel", dataset.layout, dataset.classes ? "a resnet" : "deeplabv3");
}

Cases::Cases(const Experiment& experiment, data::Dataset dataset, net::Ranks& ranks)
    : experiment_(experiment),
      ranks_(ranks),
      cache_(std::move(dataset), experiment.preprocess, experiment.cache),
      limit_bytes_(experiment.cases_bytes.value_or(least_memory_for_cases) / ranks.on_this_machine()) {
  check_suits(experiment_, cache_.dataset());
  classes_ = output_classes(cache_.dataset(), experiment.training);
  outputs_ = classes_.size();
  // After the bits of all outputs follow the bits that mark unannotated values. With classes, a value of no
  // class is ignored.
  const int ignored = cache_.dataset().ignore_label;
  const net::Unknown unknown = unknown_in(cache_.dataset());
  if (unknown != net::Unknown::nothing && !net::loss_options(experiment.training.loss).classes)
    classes_.resize(unknown == net::Unknown::voxels ? outputs_ + 1 : 2 * outputs_,
                    ignored == 0 ? std::vector<int>() : std::vector<int>{ignored});
  target_table_ = targets_of_labels(cache_.dataset(), experiment.training, classes_);
  kept_.resize(cache_.dataset().cases.size());
  resident_.resize(kept_.size());
  sizes_.resize(kept_.size());
}

std::shared_ptr<const data::PreparedCase> Cases::prepared(std::size_t index) {
  {
    const std::lock_guard lock(mutex_);
    if (kept_[index]) return kept_[index];
  }
  auto made = std::make_shared<const data::PreparedCase>(cache_.get(dataset().cases[index]));
  const std::lock_guard lock(mutex_);
  if (!kept_[index] && kept_bytes_ + bytes_of(*made) <= limit_bytes_) {
    kept_[index] = made;
    kept_bytes_ += bytes_of(*made);
  }
  return made;
}

void Cases::keep_within(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  limit_bytes_ = bytes;
}

void Cases::keep(std::size_t index, data::PreparedCase made) {
  kept_bytes_ += bytes_of(made);
  kept_[index] = std::make_shared<const data::PreparedCase>(std::move(made));
}

// A whole volume must fit into the input size of the network.
void check_fits(const data::PreparedCase& prepared, const Experiment& experiment) {
  if (experiment.training.patch || !experiment.preprocess.by_spacing()) return;
  const Size3& most = experiment.preprocess.resolution;
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (prepared.size[axis] > most[axis])
      fail(Exit::usage,
           "{}: at {} mm it has {} along {}, but whole volumes are padded to {}. Set {} to at least that, or "
           "train on patches ({})",
           prepared.id, number(experiment.preprocess.spacing[axis]), counted(prepared.size[axis], "voxel"),
           "xyz"[axis], most[axis], key::preprocess_resolution, key::training_patch);
}

// With a cache that all ranks can read, one rank prepares each case and the others find it there.
void Cases::prepare_share(const std::vector<std::size_t>& cases) {
  if (ranks_.is_alone() || experiment_.cache.empty()) return;
  for (auto i = static_cast<std::size_t>(ranks_.rank()); i < cases.size();
       i += static_cast<std::size_t>(ranks_.count())) {
    throw_if_interrupted();
    prepared(cases[i]);
  }
  net::wait_for_all(ranks_);
}

void Cases::prepare_all(const std::vector<std::size_t>& training, const std::vector<std::size_t>& others) {
  std::vector<std::size_t> all = training;
  all.insert(all.end(), others.begin(), others.end());
  Progress progress("preparing", "cases", static_cast<std::int64_t>(all.size()));
  prepare_share(all);
  std::vector<data::CaseStatistics> statistics(training.size());
  std::mutex advancing;
  const auto prepare_one = [&](std::size_t i) {
    throw_if_interrupted();
    const auto one = prepared(all[i]);
    sizes_[all[i]] = one->size;
    if (i < training.size() && experiment_.preprocess.slices != data::Slices::none)
      planes_of(all[i], one->truth, one->size);
    if (i < training.size()) {
      check_fits(*one, experiment_);
      statistics[i] = data::statistics_for(experiment_.preprocess.normalize, *one);
    }
    const std::lock_guard lock(advancing);
    progress.advance();
  };
  const HeapRetention kept;
  // Each thread holds the volumes of one case as read from disk, so more threads would need too much memory.
  constexpr unsigned most_threads = 4;
  parallel_for(all.size(), prepare_one, std::min(most_threads, usable_core_count()));
  normalization_ = data::dataset_normalization(statistics, experiment_.preprocess.normalize);
}

// The stages from a case to a sample: prepared, normalised, augmented, encoded.
Sample Cases::sample(std::size_t index) {
  data::NormalizedCase part = normalized(index);
  return {index, std::move(part.image), encoded(index, part.truth), {}};
}

Sample Cases::sample(std::size_t index, const data::AugmentOptions& options, const data::AugmentKey& key) {
  Sample sample{index, std::vector<float>(image_count()), {}, {}};
  sample.target = make(draw(index, options, key), options, sample.image);
  return sample;
}

std::size_t Cases::image_count() const {
  const Size3 size = input_size(experiment_);
  return static_cast<std::size_t>(voxels_in(size)) * dataset().modalities.size();
}

DrawnSample Cases::draw(std::size_t index, const data::AugmentOptions& options, const data::AugmentKey& key) {
  DrawnSample drawn{index, for_training(index), {}, {}, always(index)};
  drawn.box = drawn_box(index, *drawn.from, key);
  drawn.changes = data::draw_augmentation(options, key, drawn.box.size, drawn.from->channels);
  if (!data::changes_nothing(drawn.changes)) {
    drawn.changes.dropped.resize(static_cast<std::size_t>(drawn.from->channels), false);
    for (std::size_t c = 0; c < drawn.changes.dropped.size(); ++c)  // missing channels stay 0
      if (dataset().cases[index].lacks(c)) drawn.changes.dropped[c] = true;
  }
  return drawn;
}

std::vector<std::uint8_t> Cases::make(const DrawnSample& drawn, const data::AugmentOptions& options,
                                      std::span<float> image) {
  return encoded(drawn.case_index,
                 sample_graphs_.make(options, drawn.changes, *drawn.from, drawn.box, image));
}

data::NormalizedCase Cases::normalized(std::size_t index) {
  const auto whole = prepared(index);
  return normalized_case(cut_case(*whole, network_box(whole->size, experiment_)), *whole);
}

data::NormalizedCase Cases::normalized(std::size_t index, const data::AugmentKey& key) {
  const auto whole = for_training(index);
  return cut_case(*whole, drawn_box(index, *whole, key));
}

data::NormalizedCase Cases::normalized_case(data::PreparedCase part, const data::PreparedCase& whole) const {
  return data::normalize(std::move(part),
                         data::normalization_for(whole, experiment_.preprocess, normalization_));
}

std::int64_t Cases::training_bytes(std::size_t index) const {
  const Size3 size = padded_box(sizes_[index], input_size(experiment_)).size;
  return voxels_in(size) *
         static_cast<std::int64_t>(dataset().modalities.size() * sizeof(float) + sizeof(std::int16_t));
}

bool Cases::has_all_boxes_inside(std::size_t index) const {
  const Size3 &size = sizes_[index], input = input_size(experiment_);
  return experiment_.preprocess.slices == data::Slices::none || (size[0] >= input[0] && size[1] >= input[1]);
}

// Training reads no case in another form, so it takes the place of the prepared case.
std::shared_ptr<const data::NormalizedCase> Cases::for_training(std::size_t index) {
  {
    const std::lock_guard lock(mutex_);
    if (resident_[index]) return resident_[index];
  }
  const auto before = prepared(index);
  auto made = std::make_shared<data::NormalizedCase>(normalized_case(*before, *before));
  if (const VoxelBox all = padded_box(made->size, input_size(experiment_));
      all.size != made->size && experiment_.preprocess.slices == data::Slices::none)
    *made = cut_case(*made, all);
  const std::lock_guard lock(mutex_);
  const std::int64_t released = kept_[index] ? bytes_of(*kept_[index]) : 0;
  if (resident_[index] || kept_bytes_ - released + bytes_of(*made) > limit_bytes_) return made;
  kept_bytes_ += bytes_of(*made) - released;
  kept_[index].reset();
  return resident_[index] = std::move(made);
}

void Cases::leave_to_device(std::size_t index) {
  const auto whole = for_training(index);
  auto outline = std::make_shared<const data::NormalizedCase>(data::NormalizedCase{
      whole->size, whole->spacing, whole->channels, {}, whole->truth, whole->background});
  const std::lock_guard lock(mutex_);
  if (kept_[index]) kept_bytes_ -= bytes_of(*kept_[index]);
  if (resident_[index]) kept_bytes_ -= bytes_of(*resident_[index]);
  kept_[index].reset();
  kept_bytes_ += bytes_of(*outline);
  resident_[index] = std::move(outline);
}

// The part of a case that training draws: a slice, a patch or all of it.
VoxelBox Cases::drawn_box(std::size_t index, const data::NormalizedCase& whole, const data::AugmentKey& key) {
  if (experiment_.preprocess.slices != data::Slices::none) {
    const std::vector<std::int64_t> planes = planes_of(index, whole.truth, whole.size);
    const std::size_t number = key.case_index / dataset().cases.size();
    const std::int64_t plane = planes.empty() ? whole.size[2] / 2 : planes[number % planes.size()];
    return {{0, 0, plane}, input_size(experiment_)};
  }
  if (experiment_.training.patch)
    return draw_patch(label_planes_of(index, whole), whole.truth, whole.size, *experiment_.training.patch,
                      key.seed, key.epoch, key.case_index, experiment_.training.foreground);
  return {{0, 0, 0}, whole.size};
}

const LabelPlanes& Cases::label_planes_of(std::size_t index, const data::NormalizedCase& whole) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = label_planes_.find(index); found != label_planes_.end()) return found->second;
  }
  LabelPlanes planes = label_planes(whole.truth, whole.size, dataset().ignore_label);
  const std::lock_guard lock(mutex_);
  return label_planes_.emplace(index, std::move(planes)).first->second;
}

std::vector<std::uint8_t> Cases::always(std::size_t index) const {
  const data::CaseFiles& files = dataset().cases[index];
  if (dataset().classes) return data::target_classes({static_cast<std::int16_t>(files.label)}, classes_);
  std::vector<std::uint8_t> bits(target_table_.size() >> 16U);
  if (!files.annotated || net::loss_options(experiment_.training.loss).classes) return bits;
  // The bits that mark unannotated values follow the bits of all outputs.
  for (std::size_t c = 0; c < outputs_; ++c)
    if (!files.is_annotated(classes_[c]))
      bits[(outputs_ + c) / 8] |= static_cast<std::uint8_t>(1U << (outputs_ + c) % 8);
  return bits;
}

std::vector<std::uint8_t> Cases::encoded(std::size_t index, const std::vector<std::int16_t>& truth) const {
  const std::vector<std::uint8_t> set = always(index);
  if (dataset().classes) return set;
  const std::size_t bytes = set.size();
  std::vector<std::uint8_t> target(bytes * truth.size());
  for (std::size_t i = 0; i < truth.size(); ++i)
    for (std::size_t b = 0; b < bytes; ++b)
      target[bytes * i + b] = target_table_[bytes * static_cast<std::uint16_t>(truth[i]) + b] | set[b];
  return target;
}

std::vector<std::int64_t> Cases::planes_of(std::size_t index, const std::vector<std::int16_t>& truth,
                                           const Size3& size) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = planes_.find(index); found != planes_.end()) return found->second;
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> found;  // unlabelled voxels, plane
  const auto voxels = static_cast<std::ptrdiff_t>(size[0] * size[1]);
  for (std::int64_t z = 0; z < size[2] && !truth.empty(); ++z) {
    const auto plane = truth.begin() + z * voxels;
    const std::int64_t unlabelled = std::count_if(plane, plane + voxels, [&](std::int16_t label) {
      return label == 0 || label == dataset().ignore_label;
    });
    if (unlabelled < voxels) found.emplace_back(unlabelled, z);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::int64_t> planes;
  for (const auto& [unlabelled, z] : found) planes.push_back(z);
  const std::lock_guard lock(mutex_);
  return planes_[index] = planes;
}

std::vector<std::int64_t> Cases::sample_counts(const std::vector<std::size_t>& cases) {
  if (experiment_.preprocess.slices == data::Slices::none) return {};
  std::vector<std::int64_t> counts;
  for (const std::size_t index : cases) counts.push_back(static_cast<std::int64_t>(planes_.at(index).size()));
  if (std::all_of(counts.begin(), counts.end(), [](std::int64_t count) { return count == 0; }))
    fail(Exit::bad_data, "{}: no slice of the {} contains a label. Check the ground truth",
         dataset().root.string(), counted(cases.size(), "training case"));
  return counts;
}

}  // namespace voxswap::pipeline
