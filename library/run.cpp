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

using Work = void (*)(const pipeline::Experiment& experiment, const pipeline::RunContext& context);

bool in_its_folder(const Experiment& given, const RunOptions& options, Work work) {
  experiments::LoadedExperiment experiment = given.content().experiment;
  experiments::resolve_grid(experiment);
  net::Ranks& ranks = net::launched_ranks();
  pipeline::RunContext context{.ranks = {ranks, experiment.slabs},
                               .resume = options.resume,
                               .trace = options.trace,
                               .until = options.until,
                               .on_epoch = options.on_epoch,
                               .resolved = experiment.resolved,
                               .settings = experiment.settings};
  net::agree(ranks, "voxswap", format("{} of commit {}", VOXSWAP_VERSION, VOXSWAP_COMMIT));
  const OwnFolder own(experiment.output, fs::exists(experiment.output / "experiment.yaml"));
  if (!ranks.is_first()) {
    work(experiment, context);
    return false;
  }
  if (!options.record.empty()) log::begin_record(options.record);
  const auto lock = library::lock_run(experiment.output);
  library::check_run_folder(experiment, options.resume);
  context.resolved += library::ran_with(experiment);
  work(experiment, context);
  return true;
}

}  // namespace

bool run(const Experiment& experiment, const RunOptions& options) {
  return in_its_folder(experiment, options,
                       [](const pipeline::Experiment& settings, const pipeline::RunContext& context) {
                         pipeline::run(settings, context, experiments::read_settings_of_run);
                       });
}

bool train(const Experiment& experiment, const RunOptions& options) {
  return in_its_folder(experiment, options, pipeline::train);
}

}  // namespace voxswap
