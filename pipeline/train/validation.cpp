#include "pipeline/train/validation.h"

#include "metrics/overlap.h"
#include "pipeline/cases/patches.h"
#include "pipeline/cases/windows.h"

namespace voxswap::pipeline {

Validation::Validation(const data::Dataset& dataset, const RunOptions& options)
    : dataset_(dataset),
      options_(options),
      decoder_(make_decoder(dataset, options.training.targets)),
      dice_(dataset.regions.size(), 0.0) {}

void Validation::add(Session& session, Cases& cases, std::size_t index) {
  const data::Sample sample = cases.sample(index);
  const data::Size3& size = options_.preprocess.resolution;
  const auto channels = static_cast<std::int64_t>(dataset_.modalities.size());
  const Windows windows = make_windows(size, input_size(options_), 0);
  const std::vector<float> probabilities =
      stitch(windows, static_cast<std::int64_t>(decoder_.values.size()), [&](const data::Box& box) {
        std::vector<float> part;
        loss_ += session.validation_loss(cut(sample.image, size, box, channels),
                                         cut(sample.target, size, box, 1), &part) /
                 static_cast<double>(windows.count());
        return part;
      });
  const std::vector<std::int16_t> labels = decoder_.decode(probabilities);
  const auto prepared = cases.prepared(index);
  const std::vector<metrics::LabelPair> pairs = metrics::label_pairs(prepared->truth, labels, prepared->size);
  for (std::size_t i = 0; i < dice_.size(); ++i)
    dice_[i] += voxswap::metrics::dice(metrics::overlap(pairs, dataset_.regions[i].second),
                                       metrics::EmptyRule::brats);
  ++count_;
}

double Validation::loss() const {
  return loss_ / static_cast<double>(count_);
}

std::vector<std::pair<std::string, double>> Validation::dice() const {
  std::vector<std::pair<std::string, double>> means;
  for (std::size_t i = 0; i < dice_.size(); ++i)
    means.emplace_back(dataset_.regions[i].first, dice_[i] / static_cast<double>(count_));
  return means;
}

double Validation::mean_dice() const {
  double sum = 0;
  for (const double value : dice_) sum += value / static_cast<double>(count_);
  return sum / static_cast<double>(dice_.size());
}

}  // namespace voxswap::pipeline
