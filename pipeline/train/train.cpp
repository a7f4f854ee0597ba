#include "pipeline/train/train.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/keys.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/units.h"
#include "pipeline/cases/epoch_sampler.h"
#include "pipeline/cases/patches.h"
#include "pipeline/record/checkpoint.h"
#include "pipeline/record/generations.h"
#include "pipeline/record/identity.h"
#include "pipeline/record/resume.h"
#include "pipeline/record/routines.h"
#include "pipeline/record/run_logs.h"
#include "pipeline/train/device_use.h"
#include "pipeline/train/position.h"
#include "pipeline/train/schedule.h"
#include "pipeline/train/slow_rank.h"
#include "pipeline/train/validation.h"
#include "pipeline/train/weight_average.h"
#include "swap/plan/plan_report.h"

namespace voxswap::pipeline {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Trains one repeat; holds the state shared by its steps.
class Trainer {
 public:
  Trainer(const Experiment& experiment, const RunContext& context, std::int64_t repeat, Session& session,
          Cases& cases, const Split& split, const TrainingTables& rows, TimeLeft& left)
      : experiment_(experiment),
        context_(context),
        training_(experiment.training),
        ranks_(context.ranks.all()),
        repeat_(repeat),
        session_(session),
        cases_(cases),
        split_(split),
        rows_(rows),
        left_(left),
        seed_(training_.seed + static_cast<std::uint64_t>(repeat - 1)),
        sampler_(experiment, context.ranks, seed_, split.training, cases.dataset().cases.size(),
                 cases.sample_counts(split.training)),
        folder_(checkpoint_folder(experiment, repeat)),
        checkpoints_(folder_),
        pictures_(cases.dataset()),
        average_(training_, session),
        moved_per_step_(swap::totals(session.plan())),
        last_epoch_(context.last_epoch(training_.epochs)) {}

  TrainingResult train() {
    start();
    if (!is_over()) {
      session_.hold(cases_, split_.training);
      loader_ = sampler_.load(cases_, (position_.epoch - 1) * sampler_.steps() + position_.step,
                              session_.backend().computes_on_host());
    }
    while (!is_over()) epoch();
    return {mine_, steps_, steps_.compute_seconds / std::max(trained_, 1e-9), replanned_,
            !position_.finished};
  }

 private:
  // Finished or paused.
  bool is_over() const { return position_.finished || position_.epoch > last_epoch_; }

  void start() {
    if (ranks_.is_first()) make_directories(folder_);
    session_.initialize(seed_);
    if (!context_.resume || !resume()) begin_from_others();
    if (ranks_.is_first() && !is_over())
      logs_ = RunLogs(experiment_, context_.resolved, repeat_, position_.epoch, position_.total_steps + 1);
    if (!training_.growth.empty()) mine_.earlier_seconds = growth_seconds(experiment_.output, repeat_);
    saved_ = Clock::now();
  }

  // Loads the weights of the same repeat on the coarser grid, or those of another run or program, if
  // configured.
  void begin_from_others() {
    const bool grows = !training_.growth.empty();
    if (!grows && training_.init.empty()) return;
    Experiment coarser = experiment_;
    coarser.output = growth_folder(experiment_.output);
    const StartingWeights begun =
        session_.start_from(grows ? predicting_file(coarser, repeat_) : weights_file(training_.init),
                            cases_.dataset().modalities);
    if (repeat_ == 1) log::info("{}", begun.table());
  }

  bool resume() {
    const auto model = model_metadata(cases_.dataset(), experiment_, context_.identity, repeat_);
    Position position;
    const auto check_last = [&](const Checkpoint& last, const std::string& where) {
      if (last.digest.empty())
        fail(Exit::bad_data,
             "{}: has no checksums, because voxswap before 0.2 or another program wrote it, and cannot be "
             "resumed. Predict with it, or start another run with --out DIR",
             where);
      check_metadata(last, model, where);
      session_.check(last, where, true);
      average_.check(last, where);
      position = to_position(last, training_.epochs, sampler_.steps(), where);
    };
    const auto check_best = [&](const Checkpoint& best, const std::string& where) {
      check_metadata(best, model, where);
      session_.check(best, where, false);
    };
    const std::string file = checkpoints_.last_file().string();
    const std::optional<Checkpoint> last =
        broadcast(ranks_, ranks_.is_first() ? checkpoints_.resume(check_last, check_best) : std::nullopt);
    if (!last) return false;
    if (!ranks_.is_first()) check_last(*last, file);
    session_.load(*last, file, true);
    average_.load(*last, file);
    position_ = position;
    // A finished run that is given more epochs continues.
    position_.finished = position_.finished && should_stop(training_, position_.schedule, position_.epoch - 1,
                                                           average_.best_epoch());
    if (ranks_.is_first())
      mine_ = resumed_tables(experiment_.output, cases_.dataset().classes, repeat_, position_.epoch);
    if (!is_over())
      log::info("resuming repeat {} at epoch {}, step {}", repeat_, position_.epoch, position_.step + 1);
    return true;
  }

  void epoch() {
    const auto begun = Clock::now();
    DeviceUse use{.training_busy = -session_.busy_seconds(),
                  .samples = -loader_->waited_seconds(),
                  .copies = -position_.stall_seconds};
    const double rate = learning_rate(training_, position_.schedule, position_.epoch);
    steps(rate);
    if (!warned_of_slow_rank_)
      warned_of_slow_rank_ = warn_of_slow_rank(ranks_, std::exchange(kernel_seconds_, 0));
    average_.after_epoch(position_.epoch);
    use.training_busy += session_.busy_seconds();
    use.samples += loader_->waited_seconds();
    use.copies += position_.stall_seconds;
    const auto trained = Clock::now();
    use.validation_busy = -session_.busy_seconds();
    const std::optional<Validation> validation =
        validate(experiment_, context_.ranks, session_, cases_, split_.validation, left_,
                 logs_.takes_pictures(position_.epoch) ? pictures_.look() : Look());
    if (!validation) stop();
    const std::optional<Validation> averaged =
        average_.has_begun() ? validate_average() : std::optional<Validation>();
    if (average_.has_begun() && !averaged) stop();
    use.validation = seconds_since(trained);
    use.validation_busy += session_.busy_seconds();
    use.seconds = seconds_since(begun);
    finish(rate, *validation, averaged, use);
    if (!std::exchange(told_device_use_, true) && ranks_.is_first())
      log_device_use(use, sampler_.loader_threads(session_.backend().computes_on_host()));
  }

  std::optional<Validation> validate_average() {
    average_.exchange();
    std::optional<Validation> validation =
        validate(experiment_, context_.ranks, session_, cases_, split_.validation, left_);
    average_.exchange();
    return validation;
  }

  void steps(double rate) {
    const std::int64_t count = sampler_.steps(), first = position_.step;
    Progress progress(title(), "steps", count, first, seconds_left());
    auto started = Clock::now();
    const double seconds_before = position_.train_seconds,
                 waited_before = position_.wait_seconds - loader_->waited_seconds();
    for (std::int64_t step = first; step < count; ++step) {
      const auto begun = Clock::now();
      const bool was_given_before = given_;
      if (!given_) give_next();
      given_ = false;
      swap::StepReport report;
      const net::StepContext context{seed_, position_.total_steps + 1,
                                     rate * share_of(position_.total_steps)};
      const swap::Detail detail = traces_this_step() ? swap::Detail::instructions : swap::Detail::lanes;
      const float loss = session_.train(context, &report, detail, [this] {
        if (loader_->ready()) give_next();
      });
      if (!std::isfinite(loss)) {
        fail(Exit::failed,
             "the loss became {} in epoch {}, step {}. The last checkpoint before is in {}. Try a lower {}, "
             "or precision f32",
             loss, position_.epoch, step + 1, folder_.string(), key::training_optimizer_learning_rate);
      }
      note(report);
      started += compare_with_plan();
      average_.after_step(position_.epoch);
      position_.loss_sum += loss;
      position_.step = step + 1;
      ++position_.total_steps;
      position_.train_seconds = seconds_before + seconds_since(started);
      position_.wait_seconds = waited_before + loader_->waited_seconds();
      left_.timed_step(seconds_since(begun));
      logs_.step({position_.epoch, step + 1, count, position_.total_steps, loss,
                  rate * share_of(position_.total_steps - 1), seconds_since(begun)});
      progress.expect(seconds_left());
      progress.advance(1, format("loss {:.4f}", position_.loss_sum / static_cast<double>(step + 1)));
      log::debug("epoch {} step {}/{}: loss {:.6f} in {}, kernels {}, waited for copies {}{}",
                 position_.epoch, step + 1, count, loss, format_seconds(seconds_since(begun)),
                 format_seconds(report.compute_seconds), format_seconds(report.stall_seconds),
                 was_given_before ? ", batch uploaded during the previous step" : "");
      if (net::any(ranks_, interrupted())) stop();  // an interrupt of one rank stops all
      if (seconds_since(saved_) > training_.checkpoint_minutes * 60) save();
    }
    trained_ += seconds_since(started);
  }

  double share_of(std::int64_t step) const { return warm_up_share(training_, step, sampler_.steps()); }

  // Gives the session the batch of the next step, which may belong to the next epoch.
  void give_next() {
    batch_ = loader_->next(std::move(batch_));
    session_.give(batch_);
    given_ = true;
  }

  // Traces the second step, since the first includes one-time work.
  bool traces_this_step() const { return context_.trace && ranks_.is_first() && steps_.seconds.size() == 1; }

  // Returns the time spent on measuring and planning, which does not count as training.
  Clock::duration compare_with_plan() {
    constexpr std::size_t compared = 6;   // the first steps, one of which includes one-time work
    constexpr double worth_seconds = 60;  // minimum remaining time for which replanning pays off
    if (steps_.seconds.size() != compared || replanned_ || !ranks_.is_alone()) return {};
    const double found = steps_.median_seconds(), planned = session_.plan().predicted_seconds;
    const bool agrees = agrees_with_plan(found, planned);
    if ((agrees && !session_.costs().is_noisy()) || seconds_left() < worth_seconds) return {};
    const auto begun = Clock::now();
    if (agrees)
      log::info("measuring the costs again, because other programs ran when they were measured");
    else
      log::info("a step takes {} instead of the predicted {}: measuring the costs again",
                format_seconds(found), format_seconds(planned));
    session_.remeasure();
    log::info("predicted step time {}; costs {}", format_seconds(session_.plan().predicted_seconds),
              session_.costs().source);
    if (given_) session_.give(batch_);
    replanned_ = true;
    moved_per_step_ = swap::totals(session_.plan());
    steps_ = {.seconds = {}, .compute_seconds = steps_.compute_seconds};
    return Clock::now() - begun;
  }

  void note(const swap::StepReport& report) {
    if (traces_this_step())
      write_file(experiment_.output / "timeline.json",
                 swap::timeline_json(session_.graph(), session_.plan(), report.begin, report.end));
    steps_.add(report);
    kernel_seconds_ += report.compute_seconds;
    position_.stall_seconds += report.stall_seconds;
    position_.moved.out_bytes += moved_per_step_.out_bytes;
    position_.moved.in_bytes += moved_per_step_.in_bytes;
    position_.moved.recomputed_nodes += moved_per_step_.recomputed_nodes;
  }

  double seconds_left() {
    const std::int64_t before = repeat_ - 1, done = position_.epoch - 1;
    left_.stand_at({(before * last_epoch_ + done) * sampler_.steps() + position_.step,
                    (before * validations(training_, last_epoch_) + validations(training_, done)) *
                        static_cast<std::int64_t>(split_.validation.size()),
                    0});
    return left_.seconds();
  }

  void finish(double rate, const Validation& validation, const std::optional<Validation>& averaged,
              const DeviceUse& use) {
    EpochRow row = epoch_row(experiment_, repeat_, position_, sampler_.steps(), use);
    row.validation_loss = validation.loss();
    if (averaged) row.averaged_validation_loss = averaged->loss();
    row.learning_rate = rate * share_of(position_.total_steps - 1);  // of the last step
    row.device_peak_bytes = session_.arena_bytes();
    row.host_peak_bytes = session_.host_bytes() + average_.bytes();
    mine_.add(row, validation, averaged);
    logs_.epoch(row, position_.total_steps, validation.scores());
    for (const auto& [id, png] : pictures_.take()) logs_.picture(id, position_.total_steps, png);
    if (finish_epoch(training_, position_.schedule, position_.epoch, row.validation_loss) &&
        ranks_.is_first())
      best_ = session_.weights();
    if (averaged && average_.finish_epoch(position_.epoch, averaged->loss()) && ranks_.is_first())
      best_average_ = average_.weights();
    const bool stop = should_stop(training_, position_.schedule, position_.epoch, average_.best_epoch());
    const std::string line = format(
        "{}  train {:.4f}  {}{}  {}", title(), row.train_loss,
        validation.progress("validation", position_.schedule.best_epoch == position_.epoch),
        averaged ? "  " + averaged->progress("averaged", average_.best_epoch() == position_.epoch) : "",
        format_seconds(row.seconds));
    position_.finished = stop;
    ++position_.epoch;
    position_.step = 0;
    log::info("{}{}", line, is_over() ? "" : ", " + format_seconds(seconds_left()) + " left");
    position_.loss_sum = position_.train_seconds = position_.wait_seconds = position_.stall_seconds = 0;
    position_.moved = {};

    if (!ranks_.is_first()) return;
    TrainingTables all = rows_;
    all.replace(repeat_, mine_);
    write_tables(experiment_.output, cases_.dataset().classes, all);
    // Short epochs are not worth a checkpoint each.
    if (is_over() || seconds_since(saved_) > std::min(50 * save_seconds_, training_.checkpoint_minutes * 60))
      save();
    if (context_.on_epoch)
      context_.on_epoch({repeat_, row.epoch, training_.epochs, row.train_loss, row.validation_loss,
                         row.learning_rate, row.seconds, validation.scores()});
  }

  [[noreturn]] void stop() {
    save();
    ranks_.leave();  // together: a rank that exits alone terminates the others, and the first may still be
                     // writing
    fail(Exit::interrupted, "interrupted in epoch {} after step {}. Continue with --resume", position_.epoch,
         position_.step);
  }

  void save() {
    if (!ranks_.is_first()) return;
    const auto started = Clock::now();
    std::map<std::string, std::string> metadata =
        model_metadata(cases_.dataset(), experiment_, context_.identity, repeat_);
    metadata.merge(normalization_metadata(cases_.normalization()));
    metadata.merge(to_metadata(position_));
    metadata.merge(routines_metadata(session_.backend()));
    if (!best_.empty()) checkpoints_.write_best({metadata, std::exchange(best_, {})});
    if (!best_average_.empty()) checkpoints_.write_averaged({metadata, std::exchange(best_average_, {})});
    Checkpoint last{std::move(metadata), session_.weights()};
    std::vector<Tensor> state = session_.optimizer_state();
    std::move(state.begin(), state.end(), std::back_inserter(last.tensors));
    average_.add_to(last);
    checkpoints_.write_last(std::move(last));
    saved_ = Clock::now();
    save_seconds_ = seconds_since(started);
    log::debug("{}: written in {}", (folder_ / "last.safetensors").string(), format_seconds(save_seconds_));
  }

  std::string title() const {
    return training_.repeats > 1 ? format("repeat {}/{} epoch {}/{}", repeat_, training_.repeats,
                                          position_.epoch, training_.epochs)
                                 : format("epoch {}/{}", position_.epoch, training_.epochs);
  }

  const Experiment& experiment_;
  const RunContext& context_;
  const TrainingOptions& training_;
  net::Ranks& ranks_;  // only the first reads and writes the run's folder
  std::int64_t repeat_;
  Session& session_;
  Cases& cases_;
  const Split& split_;
  const TrainingTables& rows_;
  TimeLeft& left_;
  std::uint64_t seed_;
  EpochSampler sampler_;
  fs::path folder_;
  Generations checkpoints_;
  RunLogs logs_;  // on the first rank
  ValidationPictures pictures_;
  Position position_;
  TrainingTables mine_;
  WeightAverage average_;
  std::vector<Tensor> best_, best_average_;  // weights of the best epoch, not yet saved
  StepStatistics steps_;
  swap::PlanTotals moved_per_step_;
  std::int64_t last_epoch_;  // in this process
  Sample batch_;             // last batch given to the session
  bool given_ = false;       // the batch has not been used by a step
  double trained_ = 0, save_seconds_ = 0, kernel_seconds_ = 0;
  bool warned_of_slow_rank_ = false, told_device_use_ = false, replanned_ = false;
  Clock::time_point saved_;
  std::unique_ptr<Prefetcher> loader_;  // last: its threads use other members
};

}  // namespace

TrainingResult train_repeat(const Experiment& experiment, const RunContext& context, std::int64_t repeat,
                            Session& session, Cases& cases, const Split& split, const TrainingTables& rows,
                            TimeLeft& left) {
  return Trainer(experiment, context, repeat, session, cases, split, rows, left).train();
}

}  // namespace voxswap::pipeline
