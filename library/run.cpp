#include "voxswap/run.h"

#include "base/log.h"
#include "base/own_folder.h"
#include "base/run_log.h"
#include "commit.h"
#include "experiments/training_grid.h"
#include "library/content.h"
#include "library/run_folder.h"
#include "net/collective/launched.h"
#include "pipeline/train/train.h"

namespace voxswap {

namespace {

using Work = void (*)(const pipeline::RunOptions& options);

bool in_its_folder(const Experiment& given, const TrainingOptions& options, Work work) {
  experiments::Experiment experiment = given.content().experiment;
  experiments::resolve_grid(experiment);
  experiment.run.ranks = &net::launched_ranks();
  experiment.run.resume = options.resume;
  experiment.run.trace = options.trace;
  experiment.run.on_epoch = options.on_epoch;
  net::agree(*experiment.run.ranks, "voxswap", format("{} of commit {}", VOXSWAP_VERSION, VOXSWAP_COMMIT));
  const OwnFolder own(experiment.run.output, fs::exists(experiment.run.output / "experiment.yaml"));
  if (!experiment.run.ranks->is_first()) {
    work(experiment.run);
    return false;
  }
  if (!options.record.empty()) log::begin_record(options.record);
  const auto lock = library::lock_run(experiment.run.output);
  library::check_run_folder(experiment, options.resume);
  experiment.run.resolved += library::ran_with(experiment.run);
  work(experiment.run);
  return true;
}

}  // namespace

bool run(const Experiment& experiment, const TrainingOptions& options) {
  return in_its_folder(experiment, options, [](const pipeline::RunOptions& run) {
    pipeline::run(run, experiments::read_settings_of_run);
  });
}

bool train(const Experiment& experiment, const TrainingOptions& options) {
  return in_its_folder(experiment, options, pipeline::train);
}

}  // namespace voxswap
