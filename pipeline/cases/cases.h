// The prepared cases of a run: read through the disk cache, kept in memory while they fit, turned into
// samples.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "data/augment/augment.h"
#include "data/prepare/cache.h"
#include "data/prepare/prefetch.h"
#include "pipeline/cases/options.h"
#include "pipeline/cases/split.h"

namespace voxswap::pipeline {

// What the truths of its cases may leave open: single voxels, or some of the outputs.
net::Unknown unknown_in(const data::Dataset& dataset);

// The label values that make each output channel's target: the regions, then the labels, as far as they are
// targets; where a voxel has one of several classes (a loss of classes), the background comes first. Of a
// data set of classes, these.
std::vector<std::vector<int>> output_classes(const data::Dataset& dataset, const TrainingOptions& training);
// The regions among them: the first so many, or 0.
std::size_t region_outputs(const data::Dataset& dataset, const TrainingOptions& training);
std::vector<std::string> output_names(const data::Dataset& dataset, const TrainingOptions& training);
// How many channels the network puts out; throws Exit::usage when there are none, or two of one name.
std::int64_t output_count(const data::Dataset& dataset, const TrainingOptions& training);
// Throws Exit::usage where network, loss and preprocess.slices are not for such a data set.
void check_suits(const RunOptions& options, const data::Dataset& dataset);

class Cases {
 public:
  Cases(const RunOptions& options, data::Dataset dataset);

  // Prepares every case of the list (with a progress bar); the data set's normalisation is made from
  // `training`.
  void prepare_all(const std::vector<std::size_t>& training, const std::vector<std::size_t>& others);

  const data::Dataset& dataset() const { return cache_.dataset(); }
  const data::Normalization& normalization() const { return normalization_; }
  // How many samples an epoch takes of each of these cases, where they are slices: those that hold a label.
  // Empty where they are not. REQUIRES: prepare_all() had them. Throws Exit::bad_data when there are none.
  std::vector<std::int64_t> sample_counts(const std::vector<std::size_t>& cases);
  std::shared_ptr<const data::PreparedCase> prepared(std::size_t index);  // thread safe; not normalised
  std::string content(std::size_t index) { return cache_.content(dataset().cases[index]); }  // thread safe
  data::PreparedCase normalized(std::size_t index);
  // Normalised, the whole volume; or what training takes of it for a key, which is a patch where it takes
  // patches, and of slices one.
  data::Example example(std::size_t index);
  data::Example example(std::size_t index, const data::AugmentKey& key);
  data::Sample sample(std::size_t index);  // of the whole, with target bits
  data::Sample sample(std::size_t index, const data::AugmentOptions& options,
                      const data::AugmentKey& key);  // and augmented

 private:
  void prepare_share(const std::vector<std::size_t>& cases);
  data::Sample sample_of(std::size_t index, data::Example made) const;
  std::vector<std::uint8_t> with_untold(std::size_t index, std::vector<std::uint8_t> bits) const;
  // Of a prepared case, those with a label, the ones with most of it first.
  std::vector<std::int64_t> planes_of(std::size_t index, const data::PreparedCase& whole);

  RunOptions options_;
  data::PreparedCache cache_;
  data::Normalization normalization_;
  std::vector<std::vector<int>> classes_;  // of the outputs, and behind them what may be unknown
  std::size_t outputs_ = 0;
  std::vector<std::shared_ptr<const data::PreparedCase>> kept_;
  std::map<std::size_t, std::vector<std::int64_t>> planes_;  // by case
  std::int64_t kept_bytes_ = 0, limit_bytes_;
  std::mutex mutex_;
};

// What the network reads in a step of an epoch: the cases, or some patches of each, in the epoch's order,
// each under the augmentation drawn for (seed, epoch, case). Order and thread count change nothing.
class EpochSampler {
 public:
  // `case_count`: of the data set. `counts`: samples of each case; empty: as many patches as make a volume.
  EpochSampler(const RunOptions& options, std::uint64_t seed, const std::vector<std::size_t>& cases,
               std::size_t case_count, const std::vector<std::int64_t>& counts = {});
  std::int64_t steps() const;  // per epoch; a last batch that would be short is left out
  // This rank's share of the batch of step `step` (0-based) of `epoch` (1-based).
  data::Sample batch(Cases& cases, std::int64_t epoch, std::int64_t step) const;

 private:
  struct Item {
    std::size_t case_index;
    std::uint32_t
        number;  // tells the samples of all cases apart; the case's index where there is one of each
  };
  std::vector<Item> order(std::int64_t epoch) const;

  TrainingOptions training_;
  net::Share share_;
  std::uint64_t seed_;
  std::vector<Item> items_;
};

}  // namespace voxswap::pipeline
