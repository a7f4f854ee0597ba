#include "pipeline/train/time_left.h"

#include <algorithm>

namespace voxswap::pipeline {

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
