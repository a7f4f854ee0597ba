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

using Work = void (*)(const pipeline::Experiment& experiment);

bool in_its_folder(const Experiment& given, const TrainingOptions& options, Work work) {
  experiments::LoadedExperiment experiment = given.content().experiment;
  experiments::resolve_grid(experiment);
  experiment.ranks = &net::launched_ranks();
  experiment.resume = options.resume;
  experiment.trace = options.trace;
  experiment.on_epoch = options.on_epoch;
  net::agree(*experiment.ranks, "voxswap", format("{} of commit {}", VOXSWAP_VERSION, VOXSWAP_COMMIT));
  const OwnFolder own(experiment.output, fs::exists(experiment.output / "experiment.yaml"));
  if (!experiment.ranks->is_first()) {
    work(experiment);
    return false;
  }
  if (!options.record.empty()) log::begin_record(options.record);
  const auto lock = library::lock_run(experiment.output);
  library::check_run_folder(experiment, options.resume);
  experiment.resolved += library::ran_with(experiment);
  work(experiment);
  return true;
}

}  // namespace

bool run(const Experiment& experiment, const TrainingOptions& options) {
  return in_its_folder(experiment, options, [](const pipeline::Experiment& run) {
    pipeline::run(run, experiments::read_settings_of_run);
  });
}

bool train(const Experiment& experiment, const TrainingOptions& options) {
  return in_its_folder(experiment, options, pipeline::train);
}

}  // namespace voxswap
