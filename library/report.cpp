#include "voxswap/report.h"

#include <optional>

#include "base/own_folder.h"
#include "experiments/experiment.h"
#include "experiments/methods.h"
#include "library/run_folder.h"
#include "pipeline/predict/ensembles.h"
#include "pipeline/report/report.h"

namespace voxswap {

namespace {

std::vector<pipeline::EnsembleScores> score_ensembles(const std::vector<fs::path>& folders,
                                                      const std::vector<pipeline::RunPair>& pairs) {
  std::vector<pipeline::TrainedRun> runs;
  for (const fs::path& folder : folders) {
    const experiments::LoadedExperiment run = experiments::load_run(folder);
    runs.push_back({run, run.settings});
  }
  return pipeline::score_ensembles(runs, pairs);
}

// The started cells of a sweep's folder, which may also contain a report on them.
std::vector<fs::path> begun_runs_in(const fs::path& folder) {
  std::vector<fs::path> runs;
  for (const fs::path& cell : library::cells_in(folder))
    if (fs::exists(cell / "experiment.yaml")) runs.push_back(cell);
  return runs.empty() ? std::vector<fs::path>{folder} : runs;
}

}  // namespace

BestModel report(const std::vector<std::string>& folders, const std::string& out,
                 const ReportOptions& options) {
  std::vector<fs::path> runs;
  for (const std::string& folder : folders)
    for (fs::path& run : begun_runs_in(folder)) runs.push_back(std::move(run));
  const auto lock = library::lock_output(out);
  std::optional<OwnFolder> own;
  if (runs.size() == 1 && fs::weakly_canonical(runs[0]) == fs::weakly_canonical(out)) own.emplace(out, true);
  return pipeline::report(runs, out, experiments::read_settings_of_run, {}, Outputs(options.force),
                          options.ensembles ? pipeline::ScoreEnsembles(score_ensembles) : nullptr,
                          {options.figures, options.figure_width, experiments::methods_text});
}

}  // namespace voxswap
