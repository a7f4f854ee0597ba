#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/run_log.h"
#include "base/text.h"
#include "base/units.h"
#include "data/layouts/dataset_json.h"
#include "data/layouts/open_dataset.h"
#include "net/collective/exchange.h"
#include "net/networks/networks.h"
#include "pipeline/cases/data_warnings.h"
#include "pipeline/cases/epoch_sampler.h"
#include "pipeline/cases/label_decoder.h"
#include "pipeline/cases/loss_settings.h"
#include "pipeline/cases/patches.h"
#include "pipeline/cases/split.h"
#include "pipeline/plan/forecast.h"
#include "pipeline/plan/steps.h"
#include "pipeline/record/pretrained_cases.h"
#include "pipeline/record/resume.h"
#include "pipeline/record/routines.h"
#include "pipeline/record/run_logs.h"
#include "pipeline/report/report.h"
#include "pipeline/report/written_files.h"
#include "pipeline/train/train.h"
#include "pipeline/train/validation.h"
#include "pipeline/train/weight_average.h"
#include "swap/plan/plan_report.h"

namespace voxswap::pipeline {

namespace {

struct Job {
  Experiment experiment;
  RunContext context;
  std::unique_ptr<Cases> cases;
  std::optional<RunIdentity> begun;  // the run to resume
  Split split;
  StepData data;
  std::vector<PhaseRow> phases;  // completed phases
  bool prepared = false;
  bool paused = false;  // a repeat was paused before its end

  // Returns false if the cases are already prepared.
  bool prepare() {
    if (std::exchange(prepared, true)) return false;
    cases->prepare_all(split.training, split.validation);
    return true;
  }
};

// Measures the phases of a run for the report. For a resumed run, only this process counts, except for
// training.
class Stopwatch {
 public:
  void end(Job& job, const char* name) {
    const auto now = std::chrono::steady_clock::now();
    job.phases.push_back({job.experiment.name, name, std::chrono::duration<double>(now - begin_).count()});
    begin_ = now;
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

void write_phases(const Job& job) {
  write_noted(job.experiment.output, {{"phases.csv", csv_text(csv_of(job.phases))}});
}

Job open_job(const Experiment& experiment, const RunContext& context) {
  check_trains(experiment);
  check_ranks(experiment, context.ranks);
  Job job;
  job.experiment = experiment;
  job.context = context;
  data::Dataset dataset = open_dataset(experiment);
  job.data.output_weights = weights_by_name(experiment.training, dataset);
  job.data.unknown = unknown_in(dataset);
  job.data.labels = label_options(experiment, dataset);
  job.experiment.evaluate.ignored = dataset.ignore_label;
  if (!dataset.recognised.empty()) log::info("{}", dataset.recognised);
  data::log_guesses(dataset);
  job.data.channels = static_cast<std::int64_t>(dataset.modalities.size());
  job.data.outputs = output_count(dataset, experiment.training);
  job.begun = begun_run(experiment, context, dataset);
  job.split = split_of(job.begun, experiment, dataset);
  job.cases = std::make_unique<Cases>(experiment, std::move(dataset), context.ranks.all());
  return job;
}

TimingRow timing(const Job& job, const Session& session, const TrainingResult& result) {
  TimingRow row;
  row.run = job.experiment.name;
  row.resolution = resolution_text(job.experiment.preprocess.resolution);
  row.device = session.backend().name();
  row.planner = session.plan().planner;
  row.budget_bytes = session.budgets().device;
  row.link_to_host_gbps = session.costs().to_host.alone / 1e9;
  row.link_to_device_gbps = session.costs().to_device.alone / 1e9;
  double seconds = 0;
  const std::vector<EpochRow>& epochs = result.tables.epochs;
  for (const EpochRow& epoch : epochs) seconds += epoch.seconds;
  row.epoch_seconds_mean = epochs.empty() ? 0 : seconds / static_cast<double>(epochs.size());
  const swap::Bound bound = session.bound();
  const swap::PlanTotals moved = swap::totals(session.plan());
  row.step_seconds_median = result.steps.median_seconds();
  row.predicted_step_seconds = session.plan().predicted_seconds;
  row.bound_step_seconds = bound.seconds;
  row.overhead = row.step_seconds_median / bound.compute_seconds;
  // Noisy or disproved costs give no valid lower bound.
  if (session.costs().is_noisy() || disproves_costs(row.step_seconds_median, row.predicted_step_seconds))
    row.bound_step_seconds = row.overhead = std::numeric_limits<double>::quiet_NaN();
  row.utilization = result.utilization;
  row.to_host_gbps = result.steps.rate(swap::Lane::to_host, moved.out_bytes) / 1e9;
  row.to_device_gbps = result.steps.rate(swap::Lane::to_device, moved.in_bytes) / 1e9;
  row.swapped_out_bytes = moved.out_bytes;
  row.swapped_in_bytes = moved.in_bytes;
  row.device_peak_bytes = session.arena_bytes();
  return row;
}

// Explains a deviation: node times are measured within seconds, during which other programs may have run.
void compare_with_forecast(const TimingRow& row, Session& session) {
  const double found = row.step_seconds_median, planned = row.predicted_step_seconds;
  if (found == 0 || agrees_with_plan(found, planned)) return;
  const bool disproved = disproves_costs(found, planned);
  if (disproved) session.forget_costs();
  log::info("a step took {} instead of the predicted {}: {}", format_seconds(found), format_seconds(planned),
            disproved ? "other programs ran when the costs were measured. The next run measures them again"
                      : "other programs may have slowed it down");
}

// Summary of the plan on one line.
std::string plan_line(const Session& session) {
  const swap::Plan& plan = session.plan();
  const swap::PlanTotals moved = swap::totals(plan);
  std::string line = format("planner {}: {} planned, {} available", plan.planner,
                            format_bytes(session.arena_bytes()), format_bytes(session.budgets().device));
  if (plan.host_bytes > 0) line += format(", host pool {}", format_bytes(plan.host_bytes));
  if (plan.streamed_bytes > 0) line += format(", {} streamed", format_bytes(plan.streamed_bytes));
  if (plan.disk_bytes > 0) line += format(", disk {}", format_bytes(plan.disk_bytes));
  if (moved.out_bytes > 0)
    line += format("; {} swapped out and {} swapped in per step", format_bytes(moved.out_bytes),
                   format_bytes(moved.in_bytes));
  if (moved.recomputed_nodes > 0) line += format("; {} recomputed", counted(moved.recomputed_nodes, "node"));
  const double bound = session.bound().seconds;
  return line + format("; predicted step time {} (lower bound {})", format_seconds(plan.predicted_seconds),
                       std::isnan(bound) ? "unknown: the costs are noisy" : format_seconds(bound));
}

// Writes the plan as JSON, and its picture and table for the report.
void write_plan(const Experiment& experiment, const Session& session) {
  const net::Graph& graph = session.graph();
  const swap::Plan& plan = session.plan();
  write_file(experiment.output / "arena.svg", swap::arena_svg(graph, plan));
  write_noted(experiment.output,
              {{"plan.json", swap::plan_json(graph, plan)},
               {"memory.csv", csv_text(csv_of(step_memory(graph, plan, session.costs(), experiment.name,
                                                          resolution_text(experiment.preprocess.resolution),
                                                          experiment.memory.host_bytes.value_or(0))))}});
}

TimeLeft time_left(const Job& job, const Session& session, bool predicts) {
  const TrainingOptions& training = job.experiment.training;
  const std::int64_t epochs = job.context.last_epoch(training.epochs);
  const EpochSampler sampler(job.experiment, job.context.ranks, training.seed, job.split.training,
                             job.cases->dataset().cases.size(), job.cases->sample_counts(job.split.training));
  const auto validated = static_cast<std::int64_t>(job.split.validation.size());
  return {{training.repeats * epochs * sampler.steps(),
           training.repeats * validations(training, epochs) * validated,
           predicts ? training.repeats * validated : 0},
          training.batch_size,
          session.plan().predicted_seconds};
}

// Writes the description of a run before training. Split and identity are written once; the experiment may
// have been given more epochs.
void write_beginning(const Job& job, const RunIdentity& identity) {
  const fs::path& folder = job.experiment.output;
  make_writable_directory(folder);
  write_noted(folder, {{"experiment.yaml", job.context.resolved}});
  if (!job.begun) write_split(folder / "split.csv", job.cases->dataset(), job.split);
  data::write_description(folder / description_file, job.cases->dataset(), identity.run);
  if (!job.begun) write_identity(folder, identity);
}

// Verifies that all ranks have the same run before anything is written.
void agree_on_run(net::Ranks& ranks, const RunIdentity& identity, const Session& session) {
  std::string experiment, cases;
  for (const auto& [key, value] : identity.experiment) experiment += format("{}: {}\n", key, value);
  for (const auto& [id, content] : identity.cases) cases += format("{} {}\n", id, content);
  net::agree(ranks, "experiment", experiment);
  net::agree(ranks, "data set", cases);
  net::agree(ranks, "split", identity.split);
  net::agree(ranks, "device", session.backend().description());
  net::agree(ranks, "precision", std::string(net::element_name(session.precision())));
  net::agree(ranks, "order of exchanges", net::order_of_exchanges(session.graph()));
}

// Training on a rank that writes no files.
void follow(Job& job, Session& session, TimeLeft& left) {
  const Experiment& experiment = job.experiment;
  for (std::int64_t repeat = 1; repeat <= experiment.training.repeats; ++repeat)
    job.paused |=
        train_repeat(experiment, job.context, repeat, session, *job.cases, job.split, {}, left).paused;
}

void log_beginning(const Job& job, const Session& session) {
  log::info("{}: {}, {}, {}, {}", job.experiment.name, counted(job.split.training.size(), "training case"),
            counted(job.split.validation.size(), "validation case"), counted(job.data.channels, "channel"),
            counted(job.data.outputs, "output"));
  log::info("{}, {}, {}", session.backend().description(), net::element_name(session.precision()),
            counted(net::parameter_count(session.graph()), "parameter"));
  log::info("{}", plan_line(session));
}

// Trains all repeats and writes their results.
void train_repeats(Job& job, Session& session, TimeLeft& left, TrainingTables& rows) {
  const Experiment& experiment = job.experiment;
  std::vector<TimingRow> timings;
  std::vector<TimingRow> earlier;
  if (job.context.resume) earlier = rows_in<TimingRow>(experiment.output / "timing.csv");
  for (std::int64_t repeat = 1; repeat <= experiment.training.repeats; ++repeat) {
    const TrainingResult result =
        train_repeat(experiment, job.context, repeat, session, *job.cases, job.split, rows, left);
    rows.replace(repeat, result.tables);
    TimingRow row = timing(job, session, result);
    // A repeat that was already finished keeps its earlier row.
    const auto index = static_cast<std::size_t>(repeat - 1);
    if (row.step_seconds_median == 0 && index < earlier.size())
      row = earlier[index];
    else
      compare_with_forecast(row, session);
    if (result.replanned) write_plan(experiment, session);
    job.paused |= result.paused;
    if (job.paused) continue;  // timing.csv is of finished repeats
    timings.push_back(row);
    write_noted(experiment.output, {{"timing.csv", csv_text(csv_of(timings))}});
  }
}

// Class weights computed from the data must be known before planning, so cases are prepared first.
void weigh_outputs(Job& job, Stopwatch& watch) {
  const TrainingOptions& training = job.experiment.training;
  std::vector<double>& weights = job.data.output_weights;
  if (training.class_weights.automatic) {
    if (job.prepare()) watch.end(job, "preparing");
    weights = weights_by_frequency(training, *job.cases, job.split.training);
  }
  if (!weights.empty())
    log::info("class weights of the loss: {}", weights_text(weights, training, job.cases->dataset()));
}

// Prepares before writing, so that invalid cases leave no run folder behind. Returns the time left.
TimeLeft prepare_cases(Job& job, Session& session, bool predicts, Stopwatch& watch) {
  const Experiment& experiment = job.experiment;
  // The number of labelled slices is unknown before preparation.
  const bool sliced = experiment.preprocess.slices != data::Slices::none;
  if (!job.context.resume && !sliced)
    log::info("estimated time after preparing the cases: {}",
              format_seconds(time_left(job, session, predicts).seconds()));
  job.cases->keep_within(session.memory_for_cases());
  session.allocate();
  watch.end(job, "planning");
  if (job.prepare()) watch.end(job, "preparing");
  TimeLeft left = time_left(job, session, predicts);
  if (!job.context.resume && sliced) log::info("estimated time: {}", format_seconds(left.seconds()));
  return left;
}

Job train_job(const Experiment& given, const RunContext& context, bool predicts) {
  Stopwatch watch;
  Job job = open_job(given, context);
  const Experiment& experiment = job.experiment;
  weigh_outputs(job, watch);
  // The session fails before cases are prepared or files written if the step does not fit.
  Session session(experiment, context, job.data, Session::Purpose::training);
  log_beginning(job, session);
  TimeLeft left = prepare_cases(job, session, predicts, watch);
  const RunIdentity identity = confirmed(job.begun, experiment, context.settings, *job.cases, job.split);
  job.context.identity = identity.run;
  net::Ranks& ranks = context.ranks.all();
  agree_on_run(ranks, identity, session);
  if (!ranks.is_first()) {
    follow(job, session, left);
    return job;
  }
  write_beginning(job, identity);
  log::record_to(experiment.output / "run.log");
  const data::Dataset& dataset = job.cases->dataset();
  warn_of_data(experiment, dataset, job.split,
               pretrained_cases(experiment.training.init, identity.cases, split_csv(dataset, job.split)));
  write_plan(experiment, session);
  write_routines(session.backend(), experiment);

  TrainingTables rows;
  if (job.begun) rows = recorded_tables(experiment.output, job.cases->dataset().classes);
  train_repeats(job, session, left, rows);
  watch.end(job, "training");
  double epochs = 0;
  for (const EpochRow& row : rows.epochs) epochs += row.seconds;
  job.phases.back().seconds = std::max(job.phases.back().seconds, epochs);
  write_phases(job);
  if (job.paused) log::info("paused after epoch {}. --resume continues", context.until);
  return job;
}

}  // namespace

void train(const Experiment& experiment, const RunContext& context) {
  train_job(experiment, context, false);
}

void run(const Experiment& experiment, const RunContext& context, const ReadSettings& read_settings) {
  Job job = train_job(experiment, context, true);
  if (job.paused) return;
  Stopwatch watch;
  if (job.cases->dataset().classes)
    predict_and_count(job.experiment, job.context, *job.cases, job.split);
  else
    predict_and_score(job.experiment, job.context, *job.cases, job.split);
  if (!context.ranks.all().is_first()) return;
  std::vector<std::string> pictured;
  for (const std::size_t index : job.split.validation)
    pictured.push_back(job.cases->dataset().cases[index].id);
  log_pictures(experiment, pictured);
  watch.end(job, "predicting");
  write_phases(job);
  report({experiment.output}, experiment.output, read_settings);
}

}  // namespace voxswap::pipeline
