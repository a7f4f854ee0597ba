// The remaining time of a run, from the remaining work and the pace so far.
#pragma once

#include <cstdint>

namespace voxswap::pipeline {

// Of all repeats and epochs together.
struct Work {
  std::int64_t steps = 0;
  std::int64_t validations = 0;  // of one case after one epoch
  std::int64_t predictions = 0;  // of one case with one repeat's weights
};

class TimeLeft {
 public:
  // `step_seconds`: as planned, until steps were timed. Until a validation was, it takes a third of a
  // volume's part of a step: a training step goes through the network forward and, at twice the cost,
  // backward.
  TimeLeft(const Work& whole, std::int64_t batch, double step_seconds);

  void stand_at(const Work& done) { done_ = done; }  // by whoever did it
  void timed_step(double seconds) { steps_.add(seconds); }
  void timed_validation(double seconds) { validations_.add(seconds); }

  // Early stopping may make it less.
  double seconds() const;

 private:
  struct Pace {
    double seconds = 0;
    std::int64_t count = 0;
    void add(double more);
    double each_or(double otherwise) const;
  };

  Work whole_, done_;
  std::int64_t batch_;
  double planned_step_;
  Pace steps_, validations_;
};

}  // namespace voxswap::pipeline
