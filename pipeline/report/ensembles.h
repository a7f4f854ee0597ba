// Ensembles of two groups of runs, which are ranked beside the groups: nnU-Net's find_best_configuration.
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
  std::size_t first = 0, second = 0;  // places in a list of runs
};

struct EnsembleScores {
  std::vector<DiceRow> rows;  // of the cases that both runs held out
  std::string why_not;        // they cannot predict together; empty: they can
};

// Scores of each pair of these finished runs: the mean of their probabilities decides the labels. Given by
// the room that predicts.
using ScoreEnsembles = std::function<std::vector<EnsembleScores>(const std::vector<fs::path>& runs,
                                                                 const std::vector<RunPair>& pairs)>;

struct Ensembles {
  std::vector<RunGroup> groups;
  std::vector<std::pair<std::size_t, std::size_t>> members;  // of each, the two groups of runs
  std::vector<DiceRow> rows;                                 // ensembles.csv
  std::vector<std::string> notes;                            // pairs that were left out, and why
};

// The runs of a group that were scored.
std::vector<const RunFolder*> scored_runs(const std::vector<RunFolder>& runs,
                                          const std::vector<RunGroup>& groups, std::size_t group);

// Every two groups whose runs held out the same cases: of each fold, a run of one with a run of the other.
// Throws Exit::usage where there are none that can predict together.
Ensembles ensembles_of(const std::vector<RunFolder>& runs, const std::vector<RunGroup>& groups,
                       const ScoreEnsembles& score);

}  // namespace voxswap::pipeline
