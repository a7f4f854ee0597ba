#include "pipeline/train/validation.h"

#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/interrupt.h"
#include "base/text.h"
#include "data/prepare/prepare.h"
#include "metrics/metrics.h"
#include "pipeline/cases/loss_settings.h"
#include "pipeline/cases/patches.h"
#include "pipeline/cases/prefetch.h"
#include "pipeline/cases/windows.h"
#include "pipeline/predict/inference.h"
#include "pipeline/report/slice_view.h"

namespace voxswap::pipeline {

namespace {

// Dice of regions that are not annotated.
constexpr double not_annotated = std::numeric_limits<double>::quiet_NaN();

double mean_of_annotated(const std::vector<double>& values) {
  double sum = 0, count = 0;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    sum += value;
    ++count;
  }
  return count == 0 ? not_annotated : sum / count;
}

}  // namespace

Validation::Validation(const data::Dataset& dataset, const Experiment& experiment, const RankGroups& ranks,
                       std::size_t count)
    : dataset_(dataset),
      experiment_(experiment),
      ranks_(ranks),
      decoder_(make_decoder(dataset, experiment.training)),
      counts_(label_options(experiment, dataset), dataset.ignore_label),
      width_(1 + (dataset.classes ? 1 : dataset.regions.size())),
      numbers_(count * width_, 0.0) {}

std::size_t Validation::rounds() const {
  const auto groups = static_cast<std::size_t>(ranks_.replicas());
  return (numbers_.size() / width_ + groups - 1) / groups;
}

std::optional<std::size_t> Validation::position(std::size_t round) const {
  const std::size_t at =
      round * static_cast<std::size_t>(ranks_.replicas()) + static_cast<std::size_t>(ranks_.replica());
  if (at * width_ >= numbers_.size()) return std::nullopt;
  return at;
}

std::vector<std::int16_t> Validation::add(Session& session, Cases& cases, const Sample& sample,
                                          std::size_t position, bool with_labels) {
  double* const numbers = numbers_.data() + position * width_;
  if (dataset_.classes) {
    add_image(session, sample, numbers);
    return {};
  }
  const auto prepared = cases.prepared(sample.case_index);
  const Windows windows =
      make_windows(network_box(prepared->size, experiment_).size, input_size(experiment_), 0);
  if (windows.count() == 1 && session.counts_labels())
    return add_volume(session, *prepared, sample, with_labels, numbers);
  return add_windows(session, *prepared, sample, windows, numbers);
}

std::vector<std::int16_t> Validation::add_volume(Session& session, const data::PreparedCase& prepared,
                                                 const Sample& sample, bool with_labels, double* numbers) {
  const VoxelBox all = network_box(prepared.size, experiment_);
  std::vector<std::int16_t> labels;  // on the first rank of a group
  const TakeLabels take = [&](auto planes) { labels.insert(labels.end(), planes.begin(), planes.end()); };
  const Session::Score found =
      session.score(sample.image, sample.target, counts_.truth(prepared.truth, prepared.size, all),
                    with_labels ? take : TakeLabels());
  numbers[0] = static_cast<double>(found.loss);
  score(dataset_.cases[sample.case_index], counts_.pairs(found.confusion), numbers);
  if (labels.empty()) return labels;
  return cut(labels, all.size, without_padding(all, prepared.size), 1);
}

std::vector<std::int16_t> Validation::add_windows(Session& session, const data::PreparedCase& prepared,
                                                  const Sample& sample, const Windows& windows,
                                                  double* numbers) {
  const VoxelBox all = network_box(prepared.size, experiment_);
  const Size3& size = all.size;
  const auto channels = static_cast<std::int64_t>(dataset_.modalities.size());
  const auto outputs = static_cast<std::int64_t>(decoder_.values.size());
  const std::int64_t bytes = net::target_bytes(outputs, loss_of(experiment_.training, unknown_in(dataset_)));
  std::vector<std::int16_t> decided;  // on the first rank of a group
  const auto decide = [&](std::span<const float> planes) {
    const std::vector<std::int16_t> some = decoder_.decode(planes);
    decided.insert(decided.end(), some.begin(), some.end());
  };
  const auto loss_of_window = [&](const VoxelBox& box, const TakePlanes& take) {
    numbers[0] += session.validation_loss(cut(sample.image, size, box, channels),
                                          cut(sample.target, size, box, bytes), take) /
                  static_cast<double>(windows.count());
  };
  if (windows.count() == 1 || !ranks_.is_first_of_group()) {
    for (std::size_t window = 0; window < windows.count(); ++window)
      loss_of_window(windows.box(window), decide);
  } else {
    const auto probabilities_of = [&](const VoxelBox& box) {
      std::vector<float> part;
      loss_of_window(box, [&](auto planes) { part.insert(part.end(), planes.begin(), planes.end()); });
      return part;
    };
    stitch(windows, outputs, probabilities_of, decide, scratch_for(experiment_.memory, experiment_.output));
  }
  if (!ranks_.is_first_of_group()) return {};
  std::vector<std::int16_t> labels = cut(decided, size, without_padding(all, prepared.size), 1);
  std::vector<std::int16_t> truth = prepared.truth, scored = labels;
  if (dataset_.ignore_label != 0) metrics::leave_out(dataset_.ignore_label, truth, scored);
  score(dataset_.cases[sample.case_index], metrics::label_pairs(truth, scored, prepared.size), numbers);
  return labels;
}

void Validation::score(const data::CaseFiles& files, std::span<const metrics::LabelPair> pairs,
                       double* numbers) const {
  for (std::size_t i = 0; i < dataset_.regions.size(); ++i) {
    const std::vector<int>& region = dataset_.regions[i].second;
    numbers[1 + i] = files.is_annotated(region)
                         ? metrics::dice(metrics::overlap(pairs, region), metrics::EmptyRule::brats)
                         : not_annotated;
  }
}

void Validation::add_image(Session& session, const Sample& sample, double* numbers) {
  std::vector<float> probabilities;
  numbers[0] = session.validation_loss(sample.image, sample.target, [&](std::span<const float> all) {
    probabilities.assign(all.begin(), all.end());
  });
  std::size_t target = 0;  // stored in as many bytes as needed, low byte first
  for (std::size_t byte = sample.target.size(); byte-- > 0;) target = target << 8U | sample.target[byte];
  numbers[1] = most_likely(probabilities) == target ? 1 : 0;
}

std::vector<std::string> of_groups(const RankGroups& ranks, const std::vector<std::string>& all) {
  std::vector<std::string> firsts;
  const auto step = static_cast<std::size_t>(ranks.slab_ranks().count);
  for (std::size_t rank = 0; rank < all.size(); rank += step) firsts.push_back(all[rank]);
  return firsts;
}

void Validation::gather() {
  if (ranks_.all().is_alone()) return;
  const std::string mine(reinterpret_cast<const char*>(numbers_.data()), numbers_.size() * sizeof(double));
  const std::vector<std::string> all = of_groups(ranks_, net::gather(ranks_.all(), mine));
  for (std::size_t at = 0; at * width_ < numbers_.size(); ++at)
    std::memcpy(numbers_.data() + at * width_, all[at % all.size()].data() + at * width_ * sizeof(double),
                width_ * sizeof(double));
}

double Validation::mean(std::size_t number) const {
  std::vector<double> found;
  for (std::size_t at = number; at < numbers_.size(); at += width_) found.push_back(numbers_[at]);
  return mean_of_annotated(found);
}

double Validation::loss() const {
  return mean(0);
}

std::vector<std::pair<std::string, double>> Validation::dice() const {
  std::vector<std::pair<std::string, double>> means;
  if (dataset_.classes) return means;
  for (std::size_t i = 0; i < dataset_.regions.size(); ++i)
    means.emplace_back(dataset_.regions[i].first, mean(1 + i));
  return means;
}

double Validation::mean_dice() const {
  std::vector<double> found;
  for (const auto& [region, value] : dice()) found.push_back(value);
  return mean_of_annotated(found);
}

double Validation::accuracy() const {
  return mean(1);
}

std::vector<std::pair<std::string, double>> Validation::scores() const {
  if (dataset_.classes) return {{"accuracy", accuracy()}};
  return dice();
}

std::optional<Validation> validate(const Experiment& experiment, const RankGroups& ranks, Session& session,
                                   Cases& cases, const std::vector<std::size_t>& validated, TimeLeft& left,
                                   const Look& look) {
  using Clock = std::chrono::steady_clock;
  Validation validation(cases.dataset(), experiment, ranks, validated.size());
  std::vector<std::size_t> own;
  for (std::size_t round = 0; round < validation.rounds(); ++round)
    if (const auto at = validation.position(round)) own.push_back(validated[*at]);
  // The next case is read beside the current one.
  Prefetcher samples(
      own.size(), [&](std::size_t i, Sample) { return cases.sample(own[i]); }, 1);
  const bool looked_at = net::any(ranks.all(), look != nullptr);
  for (std::size_t round = 0; round < validation.rounds(); ++round) {
    if (net::any(ranks.all(), interrupted())) return std::nullopt;
    const auto started = Clock::now();
    const std::optional<std::size_t> at = validation.position(round);
    if (!at) continue;
    std::vector<std::int16_t> labels =
        validation.add(session, cases, samples.next(), *at, looked_at && round < most_looked_at);
    if (look && !labels.empty() && round < most_looked_at) {
      const auto prepared = cases.prepared(validated[*at]);
      std::vector<std::int16_t> truth = prepared->truth;
      if (const int ignored = cases.dataset().ignore_label; ignored != 0)
        metrics::leave_out(ignored, truth, labels);
      look(*prepared, std::move(truth), std::move(labels));
    }
    left.timed_validation(std::chrono::duration<double>(Clock::now() - started).count() /
                          static_cast<double>(ranks.replicas()));
  }
  validation.gather();
  return validation;
}

std::string Validation::summary() const {
  return dataset_.classes ? format("accuracy {:.3f}", accuracy()) : format("Dice {:.3f}", mean_dice());
}

std::string Validation::progress(const char* what, bool is_best) const {
  return format("{} {:.4f}{}  {}", what, loss(), is_best ? " (best)" : "", summary());
}

namespace {

data::Image last_channel(const data::PreparedCase& prepared) {
  data::Image image{prepared.training_geometry(), {}};
  const auto channels = static_cast<std::size_t>(prepared.channels);
  image.voxels.reserve(prepared.image.size() / channels);
  for (std::size_t i = channels - 1; i < prepared.image.size(); i += channels)
    image.voxels.push_back(prepared.image[i]);
  return image;
}

}  // namespace

Look ValidationPictures::look() {
  return [this](const data::PreparedCase& prepared, std::vector<std::int16_t> truth,
                std::vector<std::int16_t> labels) {
    const data::Image image = last_channel(prepared);
    const data::Geometry& grid = image.geometry;
    made_.emplace_back(prepared.id, slices_png({prepared.id,
                                                dataset_.modalities.back(),
                                                image,
                                                {grid, std::move(truth)},
                                                {grid, std::move(labels)},
                                                dataset_.regions,
                                                grid}));
  };
}

}  // namespace voxswap::pipeline
