#include "voxswap/run.h"

#include <optional>

#include "base/keys.h"
#include "base/log.h"
#include "base/own_folder.h"
#include "base/run_log.h"
#include "base/text.h"
#include "commit.h"
#include "experiments/growth.h"
#include "experiments/training_grid.h"
#include "library/content.h"
#include "library/run_folder.h"
#include "net/collective/launched.h"
#include "net/networks/networks.h"
#include "pipeline/report/tables.h"
#include "pipeline/train/train.h"

namespace voxswap {

namespace {

using Work = void (*)(const pipeline::Experiment& experiment, const pipeline::RunContext& context);

bool in_its_folder(experiments::LoadedExperiment experiment, const RunOptions& options, Work work);

// Collective. Trains what the run begins with, unless the run has begun already.
void train_stage(const experiments::LoadedExperiment& experiment, const pipeline::RunContext& context) {
  const std::optional<experiments::LoadedExperiment> stage = experiments::growth_stage(experiment);
  if (!stage || fs::exists(experiment.output / "experiment.yaml")) return;
  // Fails now, and not after hours, if the finest grid does not fit.
  pipeline::check_ranks(experiment, context.ranks);
  pipeline::StepForecast(experiment, pipeline::data_shape(experiment),
                         {.estimate = true, .as = "", .ranks = context.ranks})
      .plan(experiment.memory.planner, /*quick=*/true);
  if (net::launched_ranks().is_first()) library::note_grown(experiment);
  RunOptions options;
  options.resume = context.resume;
  options.record = format("voxswap {}: growth of {}", VOXSWAP_VERSION, experiment.name);
  const Size3 &coarser = stage->preprocess.resolution, &own = experiment.preprocess.resolution;
  log::info("{}: {} on a grid of {}, then {} on {}. Times until then are those of the first grid",
            key::training_growth, counted(stage->training.epochs, "epoch"),
            pipeline::resolution_text(coarser), experiment.training.epochs, pipeline::resolution_text(own));
  if (coarser == own)
    log::warn("{}: this grid is as fine as that of the run, because its sides are multiples of {} voxels",
              key::training_growth, net::side_multiples_text(experiment.network));
  in_its_folder(*stage, options, pipeline::train);
}

bool in_its_folder(experiments::LoadedExperiment experiment, const RunOptions& options, Work work) {
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
    train_stage(experiment, context);
    work(experiment, context);
    return false;
  }
  const auto lock = library::lock_run(experiment.output);
  library::check_run_folder(experiment, options.resume);
  train_stage(experiment, context);
  if (!options.record.empty()) log::begin_record(options.record);
  context.resolved += library::ran_with(experiment);
  work(experiment, context);
  return true;
}

}  // namespace

bool run(const Experiment& experiment, const RunOptions& options) {
  return in_its_folder(experiment.content().experiment, options,
                       [](const pipeline::Experiment& settings, const pipeline::RunContext& context) {
                         pipeline::run(settings, context, experiments::read_settings_of_run);
                       });
}

bool train(const Experiment& experiment, const RunOptions& options) {
  return in_its_folder(experiment.content().experiment, options, pipeline::train);
}

}  // namespace voxswap
