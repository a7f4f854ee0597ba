#include "pipeline/record/resume.h"

#include "base/error.h"
#include "base/keys.h"
#include "base/log.h"
#include "base/parallel.h"
#include "data/layouts/dataset_json.h"
#include "data/layouts/open_dataset.h"
#include "pipeline/cases/split.h"
#include "pipeline/record/generations.h"
#include "pipeline/report/written_files.h"

namespace voxswap::pipeline {

namespace {

bool holds_checkpoints(const fs::path& folder) {
  error_code ignored;
  const fs::path checkpoints = folder / "checkpoints";
  if (!fs::is_directory(checkpoints, ignored)) return false;
  for (const auto& entry : fs::recursive_directory_iterator(checkpoints)) {
    if (entry.path().extension() == ".safetensors") return true;
  }
  return false;
}

// Rows of completed epochs are kept, so the tables must be unmodified.
void check_tables(const fs::path& folder) {
  if (const auto names = tables_without_note(folder); !names.empty())
    fail(Exit::bad_data,
         "{}: lacks the checksum of {}, so changes to that file cannot be detected. Restore "
         "checksums.json as the run wrote it, or start another run with --out DIR",
         (folder / "checksums.json").string(), join(names, " and "));
  for (const std::string& name : changed_files(folder)) {
    if (name == "epochs.csv" || name == "validation.csv" || name == "accuracy.csv" || name == "timing.csv")
      fail(Exit::bad_data, "{}: was changed after the run wrote it. Restore it as the run wrote it",
           (folder / name).string());
  }
}

}  // namespace

std::optional<RunIdentity> begun_run(const Experiment& experiment, const RunContext& context,
                                     const data::Dataset& dataset) {
  const fs::path& folder = experiment.output;
  if (!context.resume || !fs::exists(folder / "experiment.yaml")) return std::nullopt;
  if (!has_identity(folder)) {
    if (!holds_checkpoints(folder)) return std::nullopt;  // killed before training began
    fail(Exit::bad_data,
         "{}: contains no identity.json, as in runs of versions before 0.2, so data and split cannot be "
         "verified. Predict with it, or start another run with --out DIR",
         folder.string());
  }
  RunIdentity begun = read_identity(folder);
  check_tables(folder);
  check_experiment(begun, experiment, context.settings, {""});
  check_batches(begun, experiment);
  check_case_list(begun, dataset);
  return begun;
}

Split split_of(const std::optional<RunIdentity>& begun, const Experiment& experiment,
               const data::Dataset& dataset) {
  if (!begun) return make_split(dataset, experiment.split);
  const fs::path kept = experiment.output / "split.csv", &given = experiment.split.file;
  check_split(*begun, kept);
  SplitOptions own = experiment.split;
  own.file = kept;
  const Split split = make_split(dataset, own);
  error_code ignored;
  if (!given.empty() && fs::exists(given, ignored)) {
    const Split now = make_split(dataset, experiment.split);
    if (now.training != split.training || now.validation != split.validation)
      fail(Exit::bad_data,
           "{}: differs from the split that the run in {} was started with. Restore it, or start another run "
           "with --out DIR",
           given.string(), experiment.output.string());
  }
  return split;
}

RunIdentity confirmed(std::optional<RunIdentity> begun, const Experiment& experiment,
                      const SettingList& settings, Cases& cases, const Split& split) {
  const data::Dataset& dataset = cases.dataset();
  CaseContents contents;
  for (const data::CaseFiles& files : dataset.cases) contents.emplace_back(files.id, "");
  std::vector<std::size_t> used = split.training;
  used.insert(used.end(), split.validation.begin(), split.validation.end());
  parallel_for(used.size(), [&](std::size_t i) { contents[used[i]].second = cases.content(used[i]); });
  if (!begun) return identify(experiment, settings, std::move(contents), split_csv(dataset, split));
  check_contents(*begun, contents, dataset.root);
  return *std::move(begun);
}

void check_no_cascade(const TrainedRun& run) {
  if (run.experiment.preprocess.cascade)
    fail(Exit::usage, "{}: is a cascade of two networks, which cannot be exported",
         run.experiment.output.string());
}

TrainedRun confirmed_for_prediction(TrainedRun run) {
  const fs::path& folder = run.experiment.output;
  if (!has_identity(folder)) {
    log::warn("{}: contains no identity.json, so it cannot be verified that its files belong together",
              folder.string());
    return run;
  }
  const RunIdentity identity = read_identity(folder);
  check_experiment(identity, run.experiment, run.settings,
                   {key::preprocess_section, key::network_section, key::training_section});
  if (fs::exists(folder / "split.csv")) check_split(identity, folder / "split.csv");
  const fs::path description = folder / "dataset.json";
  if (const std::string described = data::described_run(description);
      !described.empty() && described != identity.run)
    fail(Exit::bad_data, "{}: belongs to another run ({}, this is {}). Restore the one of this run",
         description.string(), described, identity.run);
  run.identity = identity.run;
  return run;
}

data::Dataset trained_on(const Experiment& experiment) {
  const fs::path noted = experiment.output / description_file;
  return fs::exists(noted) ? data::read_description(noted) : open_dataset(experiment);
}

namespace {

const char* predicting_weights(const Experiment& experiment, std::int64_t repeat, bool raw) {
  const bool averaged = experiment.training.averaging.name != Averaging::none && !raw &&
                        has_averaged(checkpoint_folder(experiment, repeat));
  return averaged ? averaged_weights_name : best_weights_name;
}

}  // namespace

fs::path predicting_file(const Experiment& experiment, std::int64_t repeat, bool raw) {
  return checkpoint_folder(experiment, repeat) /
         (std::string(predicting_weights(experiment, repeat, raw)) + ".safetensors");
}

BestWeights best_weights(const TrainedRun& run, const data::Dataset& dataset, std::int64_t repeat, bool raw) {
  const Experiment& experiment = run.experiment;
  const fs::path folder = checkpoint_folder(experiment, repeat);
  auto model = model_metadata(dataset, experiment, run.identity, repeat);
  if (run.identity.empty()) model.erase("run");
  BestWeights weights{
      predicting_file(experiment, repeat, raw).string(),
      read_best(
          folder,
          [&](const Checkpoint& best, const std::string& where) { check_metadata(best, model, where); },
          predicting_weights(experiment, repeat, raw)),
      {}};
  if (weights.checkpoint.digest.empty())
    log::warn(
        "{}: these weights have no checksums, as in files of other programs, so damage cannot be detected",
        weights.where);
  if (data::needs_training_set(experiment.preprocess.normalize))
    weights.normalization = normalization_from(weights.checkpoint, dataset.modalities.size(), weights.where);
  return weights;
}

fs::path checkpoint_folder(const Experiment& experiment, std::int64_t repeat) {
  const fs::path folder = experiment.output / "checkpoints";
  return experiment.training.repeats == 1 ? folder : folder / format("repeat_{}", repeat);
}

std::vector<Team> predicting_teams(const Experiment& experiment) {
  std::vector<Team> teams(experiment.evaluate.ensemble ? 1 : 0);
  for (std::int64_t repeat = 1; repeat <= experiment.training.repeats; ++repeat)
    if (experiment.evaluate.ensemble)
      teams.front().push_back(repeat);
    else
      teams.push_back({repeat});
  return teams;
}

fs::path prediction_folder(const Experiment& experiment, const Team& team) {
  const fs::path folder = experiment.output / "predictions";
  const bool is_only = static_cast<std::int64_t>(team.size()) == experiment.training.repeats;
  return is_only ? folder : folder / format("repeat_{}", team.front());
}

}  // namespace voxswap::pipeline
