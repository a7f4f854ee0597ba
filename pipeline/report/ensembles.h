// Ensembles of two groups of runs, ranked with the groups, as nnU-Net's find_best_configuration does.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "pipeline/report/read_runs.h"
#include "pipeline/report/run_groups.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

struct RunPair {
  std::size_t first = 0, second = 0;  // indices into a list of runs
};

struct EnsembleScores {
  std::vector<DiceRow> rows;  // of the common validation cases
  std::string why_not;        // reason if the two cannot be combined, otherwise empty
};

// Scores label maps from averaged probabilities for each pair of finished runs. A callback, since prediction
// is implemented elsewhere.
using ScoreEnsembles = std::function<std::vector<EnsembleScores>(const std::vector<fs::path>& runs,
                                                                 const std::vector<RunPair>& pairs)>;

struct Ensembles {
  std::vector<RunGroup> groups;
  std::vector<std::pair<std::size_t, std::size_t>> members;  // per ensemble, the indices of its two groups
  std::vector<DiceRow> rows;                                 // ensembles.csv
  std::vector<std::string> notes;                            // skipped pairs, with reasons
};

// The runs of a group that were scored.
std::vector<const RunFolder*> scored_runs(const std::vector<RunFolder>& runs,
                                          const std::vector<RunGroup>& groups, std::size_t group);

// Combines all pairs of groups with the same validation cases, fold by fold. Throws Exit::usage if no pair
// can be combined.
Ensembles ensembles_of(const std::vector<RunFolder>& runs, const std::vector<RunGroup>& groups,
                       const ScoreEnsembles& score);

}  // namespace voxswap::pipeline
