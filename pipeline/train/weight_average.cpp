#include "pipeline/train/weight_average.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "pipeline/record/checkpoint.h"

namespace voxswap::pipeline {

namespace {

constexpr const char* standing_key = "averaging";  // in the metadata of `last`
constexpr const char* suffix = ".average";

}  // namespace

std::int64_t averaged_from(const TrainingOptions& training) {
  if (training.averaging.start > 0) return training.averaging.start;
  if (training.averaging.name == Averaging::ema) return 1;
  return training.epochs - std::max<std::int64_t>(1, training.epochs / 4) + 1;
}

std::int64_t validations(const TrainingOptions& training, std::int64_t epochs) {
  if (training.averaging.name == Averaging::none) return epochs;
  return epochs + std::max<std::int64_t>(0, epochs - averaged_from(training) + 1);
}

WeightAverage::WeightAverage(const TrainingOptions& training, Session& session)
    : training_(training), session_(session) {
  if (training.averaging.name == Averaging::none) return;
  std::size_t largest = 0;
  for (std::size_t i = 0; i < session.weight_count(); ++i) {
    mean_.emplace_back(static_cast<std::size_t>(session.weight(i).shape.count()));
    largest = std::max(largest, mean_.back().size());
  }
  one_.resize(largest);
}

void WeightAverage::after_step(std::int64_t epoch) {
  const AveragingOptions& how = training_.averaging;
  if (how.name != Averaging::ema || epoch < averaged_from(training_)) return;
  const auto t = static_cast<double>(standing_.count);
  add(standing_.count == 0 ? 1 : 1 - std::min(how.decay, (1 + t) / (10 + t)));
}

void WeightAverage::after_epoch(std::int64_t epoch) {
  const std::int64_t first = averaged_from(training_);
  if (training_.averaging.name != Averaging::swa || epoch < first) return;
  if (standing_.count > epoch - first) return;  // already included, by a run that was interrupted afterwards
  add(1 / static_cast<double>(standing_.count + 1));
}

// The first weights initialise the average.
void WeightAverage::add(double share) {
  const auto part = static_cast<float>(share);
  for (std::size_t i = 0; i < mean_.size(); ++i) {
    const std::span<float> now(one_.data(), mean_[i].size());
    session_.read_weight(i, now);
    if (standing_.count == 0)
      std::copy(now.begin(), now.end(), mean_[i].begin());
    else
      for (std::size_t k = 0; k < now.size(); ++k) mean_[i][k] += part * (now[k] - mean_[i][k]);
  }
  ++standing_.count;
}

void WeightAverage::exchange() {
  for (std::size_t i = 0; i < mean_.size(); ++i) {
    const std::span<float> theirs(one_.data(), mean_[i].size());
    session_.read_weight(i, theirs);
    session_.write_weight(i, mean_[i]);
    std::copy(theirs.begin(), theirs.end(), mean_[i].begin());
  }
}

bool WeightAverage::finish_epoch(std::int64_t epoch, double validation_loss) {
  if (!(validation_loss < standing_.best_loss)) return false;
  standing_.best_loss = validation_loss;
  standing_.best_epoch = epoch;
  return true;
}

std::vector<Tensor> WeightAverage::weights() const {
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < mean_.size(); ++i)
    tensors.push_back({session_.weight(i).name, session_.weight(i).shape, mean_[i]});
  return tensors;
}

std::int64_t WeightAverage::bytes() const {
  std::size_t count = one_.size();
  for (const std::vector<float>& values : mean_) count += values.size();
  return static_cast<std::int64_t>(count * sizeof(float));
}

void WeightAverage::add_to(Checkpoint& last) const {
  if (!has_begun()) return;
  last.metadata[standing_key] = numbers_text(
      {static_cast<double>(standing_.count), static_cast<double>(standing_.best_epoch), standing_.best_loss});
  for (Tensor& tensor : weights()) {
    tensor.name += suffix;
    last.tensors.push_back(std::move(tensor));
  }
}

WeightAverage::Standing WeightAverage::standing(const Checkpoint& last, const std::string& where) const {
  if (mean_.empty() || !last.metadata.contains(standing_key)) return {};
  const std::vector<double> numbers = numbers_from(last, standing_key, where);
  const auto is_count = [](double value) {
    return value >= 0 && value < 0x1p53 && value == std::floor(value);
  };
  if (numbers.size() != 3 || !is_count(numbers[0]) || numbers[0] == 0 || !is_count(numbers[1]) ||
      std::isnan(numbers[2]))
    fail(Exit::bad_data,
         "{}: '{}' is '{}', expected the number of averaged weights, the best epoch and its loss. The file "
         "was altered",
         where, standing_key, last.text(standing_key, where));
  return {static_cast<std::int64_t>(numbers[0]), static_cast<std::int64_t>(numbers[1]), numbers[2]};
}

void WeightAverage::check(const Checkpoint& last, const std::string& where) const {
  if (standing(last, where).count == 0) return;
  for (std::size_t i = 0; i < mean_.size(); ++i) {
    const net::Value& value = session_.weight(i);
    const Shape& found = last.tensor(value.name + suffix, where).shape;
    if (found != value.shape)
      fail(Exit::bad_data, "{}: '{}{}' has shape {}, but the experiment's network needs {}", where,
           value.name, suffix, found.text(), value.shape.text());
  }
}

void WeightAverage::load(const Checkpoint& last, const std::string& where) {
  check(last, where);
  standing_ = standing(last, where);
  for (std::size_t i = 0; has_begun() && i < mean_.size(); ++i)
    mean_[i] = last.tensor(session_.weight(i).name + suffix, where).values;
}

}  // namespace voxswap::pipeline
