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
#include "data/prepare/prefetch.h"
#include "pipeline/cases/experiment.h"
#include "pipeline/cases/rank_groups.h"
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
  data::Sample sample(std::size_t index);  // the whole volume, with target bits
  data::Sample sample(std::size_t index, const data::AugmentOptions& options,
                      const data::AugmentKey& key);  // augmented
  // The same with the image, of image_count() numbers, in memory that is there. Returns the target.
  std::vector<std::uint8_t> draw_sample(std::size_t index, const data::AugmentOptions& options,
                                        const data::AugmentKey& key, std::span<float> image);
  std::size_t image_count() const;  // voxels of the network's input, times channels

 private:
  void prepare_share(const std::vector<std::size_t>& cases);
  VoxelBox drawn_box(std::size_t index, const data::NormalizedCase& whole, const data::AugmentKey& key);
  // A part of a prepared case, normalised as the whole.
  data::NormalizedCase normalized_case(data::PreparedCase part, const data::PreparedCase& whole) const;
  std::shared_ptr<const data::NormalizedCase> normalized_whole(std::size_t index);
  std::vector<std::uint8_t> encoded(std::size_t index, const std::vector<std::int16_t>& truth) const;
  std::vector<std::uint8_t> with_unannotated(std::size_t index, std::vector<std::uint8_t> bits) const;
  // Slices of a prepared case that contain a label, most labelled voxels first.
  std::vector<std::int64_t> planes_of(std::size_t index, const std::vector<std::int16_t>& truth,
                                      const Size3& size);

  Experiment experiment_;
  net::Ranks& ranks_;
  data::PreparedCache cache_;
  data::Normalization normalization_;
  std::vector<std::vector<int>> classes_;  // of the outputs, then of the "unannotated" bits
  std::size_t outputs_ = 0;
  // In memory, by case: prepared, or normalised for training.
  std::vector<std::shared_ptr<const data::PreparedCase>> kept_;
  std::vector<std::shared_ptr<const data::NormalizedCase>> resident_;
  std::map<std::size_t, std::vector<std::int64_t>> planes_;  // by case
  std::int64_t kept_bytes_ = 0, limit_bytes_;
  std::mutex mutex_;
  SampleGraphs sample_graphs_;
};

// Draws the batches of an epoch: cases, or several patches of each, shuffled per epoch and augmented by
// (seed, epoch, case). The result does not depend on the thread count.
class EpochSampler {
 public:
  // `case_count`: cases in the data set. `counts`: samples of each case; empty: as many patches as cover a
  // volume.
  EpochSampler(const Experiment& experiment, const RankGroups& ranks, std::uint64_t seed,
               const std::vector<std::size_t>& cases, std::size_t case_count,
               const std::vector<std::int64_t>& counts = {});
  std::int64_t steps() const;  // per epoch; an incomplete last batch is dropped
  // This rank's share of the batch of step `step` (0-based) of `epoch` (1-based), in the memory of `used`.
  data::Sample batch(Cases& cases, std::int64_t epoch, std::int64_t step, data::Sample used = {}) const;
  // Threads that load batches: training.loader_threads, or an eighth of this rank's cores if kernels run on
  // them too, since loading takes a small part of a step; with a separate device all but one, at most 16.
  std::int64_t loader_threads(bool computes_on_host) const;
  // Loads the batches on these threads, from step `first` counted over all epochs. Does not stop at the end
  // of an epoch, so that batches are ready after a validation. REQUIRES: the sampler and `cases` outlive the
  // result.
  std::unique_ptr<data::Prefetcher> load(Cases& cases, std::int64_t first, bool computes_on_host) const;

 private:
  struct Item {
    std::size_t case_index;
    std::uint32_t
        number;  // unique among the samples of all cases; the case's index where each case has one sample
  };
  std::vector<Item> order(std::int64_t epoch) const;

  TrainingOptions training_;
  net::Share share_;
  std::uint64_t seed_;
  int ranks_here_;  // on this machine
  std::vector<Item> items_;
};

}  // namespace voxswap::pipeline
