#include "pipeline/device/epoch_benchmark.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "base/interrupt.h"
#include "base/progress.h"
#include "metrics/box_statistics.h"
#include "pipeline/cases/random_cases.h"

namespace voxswap::pipeline {

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr double least_seconds = 2, most_seconds = 60;  // of a part
constexpr double most_warm_up_seconds = 15;

// Takes batches: the steps of a session, or waits.
class BatchConsumer {
 public:
  virtual ~BatchConsumer() = default;
  virtual bool computes_on_host() const = 0;
  virtual void hold(RandomCases& cases) = 0;                      // as Session::hold()
  virtual void give(const Sample& batch) = 0;                     // as Session::give()
  virtual void finish() = 0;                                      // waits until what was given is there
  virtual void step(const std::function<void()>& meanwhile) = 0;  // as Session::train()
  virtual double busy_seconds() const = 0;                        // time in kernels, over all steps so far
};

class SessionSteps final : public BatchConsumer {
 public:
  SessionSteps(const Experiment& experiment, Session& session)
      : session_(session),
        seed_(experiment.training.seed),
        rate_(experiment.training.optimizer.learning_rate) {}
  bool computes_on_host() const override { return session_.backend().computes_on_host(); }
  void hold(RandomCases& cases) override { session_.hold(cases.cases(), cases.all()); }
  void give(const Sample& batch) override { session_.give(batch); }
  void finish() override { session_.finish_given(); }
  void step(const std::function<void()>& meanwhile) override {
    session_.train({seed_, ++step_, rate_}, nullptr, swap::Detail::lanes, meanwhile);
  }
  double busy_seconds() const override { return session_.busy_seconds(); }

 private:
  Session& session_;
  std::uint64_t seed_;
  double rate_;
  std::int64_t step_ = 0;
};

class Waits final : public BatchConsumer {
 public:
  explicit Waits(const CardSeconds& seconds) : step_(seconds.step), samples_(seconds.samples) {}
  bool computes_on_host() const override { return false; }
  void hold(RandomCases&) override {}
  void give(const Sample&) override { due_ += samples_; }
  void step(const std::function<void()>& meanwhile) override {
    due_ += step_;
    wait(meanwhile);
  }
  void finish() override {
    wait([] {});
  }
  double busy_seconds() const override { return busy_.count(); }

 private:
  void wait(const std::function<void()>& meanwhile) {
    const Seconds wanted = std::exchange(due_, Seconds(0));
    const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(wanted - late_);
    meanwhile();
    std::this_thread::sleep_until(end);
    late_ = std::min(Seconds(Clock::now() - end), wanted);
    busy_ += wanted;
  }

  Seconds step_, samples_, due_{0}, busy_{0};
  Seconds late_{0};  // that the last wait was too long, by which the next one is shorter
};

// Calls `one` at least `count` times and for `least` seconds, but not after `most` seconds. Returns the
// seconds of each call.
std::vector<double> repeat(std::int64_t count, double least, double most, const std::function<void()>& one) {
  std::vector<double> calls;
  const Clock::time_point begin = Clock::now();
  Clock::time_point before = begin;
  for (double elapsed = 0; elapsed < most && (std::ssize(calls) < count || elapsed < least);) {
    throw_if_interrupted();
    one();
    const Clock::time_point now = Clock::now();
    calls.push_back(Seconds(now - before).count());
    elapsed = Seconds(now - begin).count();
    before = now;
  }
  return calls;
}

// Steps as in training (pipeline/train/train.cpp): the next batch is given during a step if it is ready.
class StepLoop {
 public:
  StepLoop(BatchConsumer& consumer, std::function<void()> give, std::function<bool()> ready)
      : consumer_(consumer), give_(std::move(give)), ready_(std::move(ready)) {}
  void step() {
    if (!std::exchange(given_, false)) give_();
    consumer_.step([this] {
      if (!ready_()) return;
      give_();
      given_ = true;
    });
  }

 private:
  BatchConsumer& consumer_;
  std::function<void()> give_;
  std::function<bool()> ready_;
  bool given_ = false;  // the batch of the next step
};

class EpochParts {
 public:
  EpochParts(const Experiment& experiment, BatchConsumer& consumer, const StepData& data, std::int64_t steps)
      : consumer_(consumer),
        cases_(experiment, data.channels, data.outputs),
        batch_size_(static_cast<double>(experiment.training.batch_size)),
        threads_(cases_.loader_threads(consumer.computes_on_host())),
        count_(std::max(steps, threads_)) {
    consumer.hold(cases_);
  }

  std::int64_t loader_threads() const { return threads_; }

  double samples_alone() {
    const Doing doing("measuring samples");
    const auto loader = cases_.load(consumer_.computes_on_host());
    return rate_of(measure([&] {
      batch_ = loader->next(std::move(batch_));
      if (consumer_.computes_on_host()) return;
      consumer_.give(batch_);
      consumer_.finish();
    }));
  }

  // On the last batch of samples_alone().
  double steps_alone() {
    const Doing doing("measuring steps");
    StepLoop loop(
        consumer_, [this] { consumer_.give(batch_); }, [] { return true; });
    return batch_size_ / metrics::box_statistics(measure([&] { loop.step(); })).median;
  }

  void both(EpochBenchmark& result) {
    const Doing doing("measuring samples and steps");
    const auto loader = cases_.load(consumer_.computes_on_host());
    StepLoop loop(
        consumer_,
        [&] {
          batch_ = loader->next(std::move(batch_));
          consumer_.give(batch_);
        },
        [&] { return loader->ready(); });
    double waited = 0, busy = 0;
    const auto after_warm_up = [&] {
      waited = loader->waited_seconds();
      busy = consumer_.busy_seconds();
    };
    const std::vector<double> calls = measure([&] { loop.step(); }, after_warm_up);
    const double seconds = std::accumulate(calls.begin(), calls.end(), 0.0);
    result.both_per_second = rate_of(calls);
    result.wait_share = std::min((loader->waited_seconds() - waited) / seconds, 1.0);
    result.device_busy = std::min((consumer_.busy_seconds() - busy) / seconds, 1.0);
  }

 private:
  // The warm-up takes the batches that all threads begin at once and that may wait in the queue.
  std::vector<double> measure(
      const std::function<void()>& one, const std::function<void()>& after_warm_up = [] {}) const {
    repeat(threads_ + 1, 0, most_warm_up_seconds, one);
    after_warm_up();
    return repeat(count_, least_seconds, most_seconds, one);
  }
  double rate_of(const std::vector<double>& calls) const {
    return batch_size_ * static_cast<double>(calls.size()) / std::accumulate(calls.begin(), calls.end(), 0.0);
  }

  BatchConsumer& consumer_;
  RandomCases cases_;
  double batch_size_;
  std::int64_t threads_, count_;  // count_: of the batches of a part
  Sample batch_;                  // last one given
};

}  // namespace

EpochBenchmark benchmark_epoch(const Experiment& experiment, Session& session, const StepData& data,
                               std::int64_t steps) {
  SessionSteps consumer(experiment, session);
  EpochParts parts(experiment, consumer, data, steps);
  EpochBenchmark result;
  result.device_makes_samples = !consumer.computes_on_host();
  result.loader_threads = parts.loader_threads();
  result.samples_per_second = parts.samples_alone();
  result.steps_per_second = parts.steps_alone();
  parts.both(result);
  return result;
}

EpochBenchmark benchmark_epoch(const Experiment& experiment, const std::string& card,
                               const CardSeconds& seconds, const StepData& data, std::int64_t steps) {
  Waits consumer(seconds);
  EpochParts parts(experiment, consumer, data, steps);
  EpochBenchmark result;
  result.card = card;
  result.device_makes_samples = true;
  result.loader_threads = parts.loader_threads();
  result.samples_per_second = parts.samples_alone();
  result.steps_per_second = static_cast<double>(experiment.training.batch_size) / seconds.step;
  parts.both(result);
  return result;
}

}  // namespace voxswap::pipeline
