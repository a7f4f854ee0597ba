// Reads the sweep that `voxswap sweep` runs: all combinations of values in a file's `sweep:` section and on
// the command line.
//
// An entry of `sweep:` is a key (or a section whose values are maps) with a list of values, a map from labels
// to values, or one value shared by all cells. The values of `settings` are maps of keys that change
// together. Other entries are options of the swept command (`command`, `as`, `largest`, `devices`,
// `devices_per_link`, `steps`, `trace`), of the order of training (`stop`, `eta`, `first_rung`) and of the
// results (`title`, `plot`, `published`).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/csv.h"
#include "base/file.h"
#include "experiments/experiment.h"
#include "pipeline/sweep/halving.h"
#include "pipeline/sweep/sweep_results.h"

namespace voxswap::experiments {

// Options of the swept command besides the experiment.
struct SweepQuestion {
  std::string as;            // plan: a known device, which need not be in this machine
  std::string largest;       // plan: resolution | batch | depth; empty: only the plan
  std::int64_t devices = 1;  // plan: number of devices that run the step
  std::int64_t devices_per_link = 1;
  std::int64_t steps = 10;  // bench
  bool trace = false;       // run, bench
};

struct SweepCell {
  std::string name;                 // of its folder and run
  std::vector<std::string> values;  // one per column
  SweepQuestion question;
  LoadedExperiment experiment;  // written to OUT/name
  std::size_t setting = 0;      // equal for cells that are repeats or folds of one another
};

struct Sweep {
  std::string command = "run";  // run | plan | bench
  LoadedExperiment base;  // with the name and output.dir of the sweep; cells are written inside output.dir
  std::vector<std::string> columns;   // short names of the swept keys, such as "resolution"
  std::vector<SweepCell> cells;       // the last column varies fastest
  bool draws_splits = false;          // cells differ in data.*, so each makes its own split
  std::vector<pipeline::Rung> rungs;  // of successive halving; none: every cell is trained to its end
  std::string title;
  pipeline::ChartColumns plot;
  std::int64_t volumes = 0;
  Csv published;  // published results for comparison
};

// `arguments`: "key=v1,v2" each, split at commas outside brackets and quotes; they override the file. A key
// swept by the file stays a column even with one value. Every cell is validated like any experiment. Unless
// each cell makes its own split, trained cells use split_file(), which may not exist yet. `out`: output.dir,
// unless empty. Throws Exit::usage.
Sweep load_sweep(const fs::path& file, const std::vector<std::string>& arguments,
                 const std::string& out = "");

fs::path split_file(const Sweep& sweep);

}  // namespace voxswap::experiments
