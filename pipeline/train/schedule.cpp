#include "pipeline/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace voxswap::pipeline {

double full_rate(const TrainingOptions& options) {
  const double rate = options.optimizer.learning_rate;
  const double growth =
      static_cast<double>(options.batch_size) / static_cast<double>(options.rate.reference_batch);
  if (options.rate.scaling == RateScaling::linear) return rate * growth;
  if (options.rate.scaling == RateScaling::sqrt) return rate * std::sqrt(growth);
  return rate;
}

double learning_rate(const TrainingOptions& options, const ScheduleState& state, std::int64_t epoch) {
  const double full = full_rate(options);
  const double done = static_cast<double>(epoch - 1) / static_cast<double>(options.epochs);
  if (options.schedule.name == Schedule::plateau) return state.rate > 0 ? state.rate : full;
  if (options.schedule.name == Schedule::poly) return full * std::pow(1 - done, 0.9);
  if (options.schedule.name == Schedule::cosine) return full * 0.5 * (1 + std::cos(std::numbers::pi * done));
  return full;
}

double warm_up_share(const TrainingOptions& options, std::int64_t step, std::int64_t steps_per_epoch) {
  const double steps = std::round(options.schedule.warm_up * static_cast<double>(steps_per_epoch));
  const double done = static_cast<double>(step + 1);
  return done < steps ? done / steps : 1;
}

bool finish_epoch(const TrainingOptions& options, ScheduleState& state, std::int64_t epoch,
                  double validation_loss) {
  constexpr double least_improvement = 1e-4;
  const double rate = learning_rate(options, state, epoch);
  if (validation_loss < state.plateau_best - least_improvement) {
    state.plateau_best = validation_loss;
    state.waited = 0;
  } else if (++state.waited >= options.schedule.patience) {
    state.rate = rate * options.schedule.factor;
    state.waited = 0;
  }
  if (!(validation_loss < state.best_loss)) return false;
  state.best_loss = validation_loss;
  state.best_epoch = epoch;
  return true;
}

bool should_stop(const TrainingOptions& options, const ScheduleState& state, std::int64_t epoch,
                 std::int64_t best_of_average) {
  return epoch >= options.epochs ||
         (options.early_stop > 0 &&
          epoch - std::max(state.best_epoch, best_of_average) >= options.early_stop);
}

void TimeLeft::Pace::add(double more) {
  seconds += more;
  ++count;
}

double TimeLeft::Pace::each_or(double otherwise) const {
  return count > 0 ? seconds / static_cast<double>(count) : otherwise;
}

TimeLeft::TimeLeft(const Work& whole, std::int64_t batch, double step_seconds)
    : whole_(whole), batch_(batch), planned_step_(step_seconds) {}

double TimeLeft::seconds() const {
  const auto left = [](std::int64_t whole, std::int64_t done) {
    return static_cast<double>(std::max<std::int64_t>(whole - done, 0));
  };
  const double step = steps_.each_or(planned_step_);
  const double validation = validations_.each_or(step / (3 * static_cast<double>(batch_)));
  return step * left(whole_.steps, done_.steps) + validation * (left(whole_.validations, done_.validations) +
                                                                left(whole_.predictions, done_.predictions));
}

}  // namespace voxswap::pipeline
