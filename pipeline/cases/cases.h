// The prepared cases of a run: read through the disk cache, kept in memory while they fit, and converted to
// samples.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "data/augment/augment.h"
#include "data/prepare/cache.h"
#include "net/collective/ranks.h"
#include "pipeline/cases/experiment.h"
#include "pipeline/cases/patches.h"
#include "pipeline/cases/prefetch.h"
#include "pipeline/cases/sample_graph.h"
#include "pipeline/cases/split.h"

namespace voxswap::pipeline {

// Whether the ground truth may leave single voxels or some of the outputs unannotated.
net::Unknown unknown_in(const data::Dataset& dataset);

// The label values behind each output channel: regions first, then labels, as selected by training.targets.
// With a loss of classes (one per voxel), the background comes first. For image classification, the classes.
std::vector<std::vector<int>> output_classes(const data::Dataset& dataset, const TrainingOptions& training);
// Number of leading outputs that are regions, or 0.
std::size_t region_outputs(const data::Dataset& dataset, const TrainingOptions& training);
std::vector<std::string> output_names(const data::Dataset& dataset, const TrainingOptions& training);
// Number of output channels. Throws Exit::usage if there are none or two have the same name.
std::int64_t output_count(const data::Dataset& dataset, const TrainingOptions& training);
// Channels of the network's input: those of the data set, in a cascade also its labels.
std::int64_t input_channels(const data::Dataset& dataset, const Experiment& experiment);
// Throws Exit::usage for a cascade, whose second network predicts only.
void check_trains(const Experiment& experiment);
// Throws Exit::usage if network, loss or preprocess.slices do not suit the data set.
void check_suits(const Experiment& experiment, const data::Dataset& dataset);

class Cases {
 public:
  // `ranks`: prepare the cases together.
  Cases(const Experiment& experiment, data::Dataset dataset, net::Ranks& ranks = net::alone());

  // Prepares all listed cases (with a progress bar) and computes the data set's normalisation from
  // `training`.
  void prepare_all(const std::vector<std::size_t>& training, const std::vector<std::size_t>& others);

  const data::Dataset& dataset() const { return cache_.dataset(); }
  const data::Normalization& normalization() const { return normalization_; }
  // Samples per epoch of each case when training on slices: the number of slices with a label. Empty without
  // slices. REQUIRES: prepare_all() was called for these cases. Throws Exit::bad_data if no slice has a
  // label.
  std::vector<std::int64_t> sample_counts(const std::vector<std::size_t>& cases);
  std::shared_ptr<const data::PreparedCase> prepared(std::size_t index);  // thread safe
  // From now on, prepared cases stay in memory while they fit into these bytes. The rest is read again from
  // the disk cache.
  void keep_within(std::int64_t bytes);
  // Keeps a case that was made in memory, so that its files are never read. REQUIRES: no other thread uses
  // the cases yet.
  void keep(std::size_t index, data::PreparedCase made);
  std::string content(std::size_t index) { return cache_.content(dataset().cases[index]); }  // thread safe
  // The whole volume, padded to the network's input where it is smaller; with a key, the part that training
  // draws from it: a patch with training.patch, a single slice with preprocess.slices.
  data::NormalizedCase normalized(std::size_t index);
  data::NormalizedCase normalized(std::size_t index, const data::AugmentKey& key);
  Sample sample(std::size_t index);  // the whole volume, with target bits
  Sample sample(std::size_t index, const data::AugmentOptions& options,
                const data::AugmentKey& key);  // augmented
  // Draws the box and the augmentation of a sample.
  DrawnSample draw(std::size_t index, const data::AugmentOptions& options, const data::AugmentKey& key);
  // Makes the image, of image_count() numbers, in memory that is there. Returns the target.
  std::vector<std::uint8_t> make(const DrawnSample& drawn, const data::AugmentOptions& options,
                                 std::span<float> image);
  std::size_t image_count() const;  // voxels of the network's input, times channels
  // The target of a voxel with a label, as an unsigned 16-bit number: table[label]. Empty with one target per
  // image.
  const std::vector<std::uint8_t>& target_table() const { return target_table_; }
  // Size of for_training(index). REQUIRES: prepare_all() was called for the case.
  std::int64_t training_bytes(std::size_t index) const;
  // Whether every box that training draws from this case lies inside it. Same requirement.
  bool has_all_boxes_inside(std::size_t index) const;
  // The case that training draws from: normalised, and padded to the network's input where it is smaller.
  std::shared_ptr<const data::NormalizedCase> for_training(std::size_t index);
  // From now on, a device holds the image of a case for training. REQUIRES: no other thread uses the cases
  // yet; all boxes that are drawn are inside it.
  void leave_to_device(std::size_t index);

 private:
  void prepare_share(const std::vector<std::size_t>& cases);
  VoxelBox drawn_box(std::size_t index, const data::NormalizedCase& whole, const data::AugmentKey& key);
  // A part of a prepared case, normalised as the whole.
  data::NormalizedCase normalized_case(data::PreparedCase part, const data::PreparedCase& whole) const;
  // The target bits that every voxel of a case has; for image classification, the image's class.
  std::vector<std::uint8_t> always(std::size_t index) const;
  std::vector<std::uint8_t> encoded(std::size_t index, const std::vector<std::int16_t>& truth) const;
  const LabelPlanes& label_planes_of(std::size_t index, const data::NormalizedCase& whole);
  // Slices of a prepared case that contain a label, most labelled voxels first.
  std::vector<std::int64_t> planes_of(std::size_t index, const std::vector<std::int16_t>& truth,
                                      const Size3& size);

  Experiment experiment_;
  net::Ranks& ranks_;
  data::PreparedCache cache_;
  data::Normalization normalization_;
  std::vector<std::vector<int>> classes_;  // of the outputs, then of the "unannotated" bits
  std::size_t outputs_ = 0;
  std::vector<std::uint8_t> target_table_;
  // In memory, by case: prepared, or for training, without an image if a device holds it.
  std::vector<std::shared_ptr<const data::PreparedCase>> kept_;
  std::vector<std::shared_ptr<const data::NormalizedCase>> resident_;
  std::vector<Size3> sizes_;                                 // of prepared cases, by case
  std::map<std::size_t, std::vector<std::int64_t>> planes_;  // by case
  std::map<std::size_t, LabelPlanes> label_planes_;          // by case
  std::int64_t kept_bytes_ = 0, limit_bytes_;
  std::mutex mutex_;
  SampleGraphs sample_graphs_;
};

}  // namespace voxswap::pipeline
