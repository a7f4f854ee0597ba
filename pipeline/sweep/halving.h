// Successive halving: trains all settings of a sweep for a part of their epochs, keeps the best, and trains
// these further (Jamieson & Talwalkar 2016, "Non-stochastic best arm identification and hyperparameter
// optimization"; Li et al. 2018, "Hyperband: A novel bandit-based approach to hyperparameter optimization").
//
// A decision depends only on epochs that cells have recorded. A resumed sweep, its parts and its ranks
// therefore come to the same one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "pipeline/report/columns.h"

namespace voxswap::pipeline {

struct Halving {
  std::int64_t eta = 2;     // one of `eta` settings is kept, rounded up
  double first_rung = 0.1;  // earliest share of its epochs at which a cell may be stopped
};

// After 1/divisor of their epochs, rounded up, the best `kept` of `settings` settings continue.
struct Rung {
  std::int64_t divisor = 1;
  std::size_t settings = 0, kept = 0;
};
std::int64_t rung_epoch(std::int64_t epochs, const Rung& rung);

// As many rungs as it takes to reduce the settings to one, in order of epochs; the last is at 1/eta of the
// epochs. None before first_rung, or before the first of `epochs`, the smallest number of any cell.
std::vector<Rung> rungs(const Halving& halving, std::size_t settings, std::int64_t epochs);

// After each epoch, the validation Dice (or accuracy) of the weights with which the run would predict if it
// ended there: those of the lowest validation loss so far, averaged weights if there are any. Mean over
// regions, then over repeats; a repeat that stopped early keeps its last score.
struct RecordedScores {
  std::vector<double> by_epoch;
  std::int64_t epochs = 0;  // recorded by all repeats
};
RecordedScores recorded_scores(const fs::path& run, std::int64_t repeats);

struct CellRecord {
  std::string name;
  std::size_t setting = 0;       // cells with the same setting are repeats or folds and decided together
  std::int64_t epochs = 1;       // to the end
  std::int64_t reached = 0;      // epochs after which it was paused or failed
  bool finished = false;         // at the end, or earlier by early stopping
  bool failed = false;           // after `reached`
  std::vector<double> scores{};  // RecordedScores::by_epoch
};

struct HalvingRow {  // halving.csv: a cell at a rung
  std::int64_t round = 1;
  std::string cell;
  std::int64_t epoch = 0;
  double score = 0, setting_score = 0;
  std::int64_t rank = 0;  // of its setting, from 1
  std::string decision;   // kept | stopped | finished (by early stopping, and not kept) | failed
};

// A cell of the next round. `until`: the epoch to which it is trained; 0: to the end. `reached`: the epoch of
// the previous round.
struct RoundCell {
  std::size_t cell = 0;
  std::int64_t until = 0, reached = 0;
  bool settled = false;  // it is there already
};

struct HalvedSweep {
  std::vector<HalvingRow> rows;  // of all decisions so far
  std::vector<RoundCell> cells;  // of the next round, in the order of the sweep
  std::int64_t round = 1, rounds = 1;
  std::vector<std::int64_t> stopped;  // for each cell the epoch at which it was stopped; 0: not stopped
};

// Decides every rung that all cells have reached. Settings are ordered by the mean score of their cells,
// equal ones as in the sweep. A setting with a failed cell or without a score is not kept. If none can be
// kept, nothing is decided, and the round is repeated.
HalvedSweep halve(const std::vector<CellRecord>& cells, const std::vector<Rung>& rungs);

// The largest sum that training may cost. `costs`: of each setting up to each rung and, last, to the end.
double most_cost(std::vector<std::vector<double>> costs, const std::vector<Rung>& rungs);

Columns<HalvingRow> columns_of(const HalvingRow*);

}  // namespace voxswap::pipeline
