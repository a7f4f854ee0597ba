// What `voxswap sweep` runs: every combination of the values that a file's `sweep:` and the command line
// give.
//
// An entry of `sweep:` is a key (or a section, whose values are maps) with a list of values, a map from
// labels to values, or one value that all cells share. The values of `settings` are maps of any keys, which
// change together. Beside keys it takes what the swept command is asked:
// `command`, `as`, `largest`, `devices`, `devices_per_link`, `steps`, `trace`; and what is made of the
// results: `title`, `plot`, `published`.
#pragma once

#include <string>
#include <vector>

#include "base/csv.h"
#include "base/file.h"
#include "experiments/experiment.h"
#include "pipeline/sweep/sweep_results.h"

namespace voxswap::experiments {

// What a command is asked beside the experiment.
struct SweepQuestion {
  std::string as;            // plan: a known device that need not be here
  std::string largest;       // plan: resolution | batch | depth; empty: the plan itself
  std::int64_t devices = 1;  // plan: that run the step at once
  std::int64_t devices_per_link = 1;
  std::int64_t steps = 10;  // bench
  bool trace = false;       // run, bench
};

struct SweepCell {
  std::string name;                 // of its folder, and of its run
  std::vector<std::string> values;  // one per column
  SweepQuestion question;
  Experiment experiment;  // written to OUT/name
};

struct Sweep {
  std::string command = "run";       // run | plan | bench
  Experiment base;                   // its name and output.dir are the sweep's; cells are written into that
  std::vector<std::string> columns;  // what is swept, in short: "resolution"
  std::vector<SweepCell> cells;      // the last column varies fastest
  bool draws_splits = false;         // cells differ in data.*: each draws its own split
  std::string title;
  pipeline::ChartColumns plot;
  std::int64_t volumes = 0;
  Csv published;  // figures to be shown beside the results
};

// `arguments`: "key=v1,v2" each, split at commas outside brackets and quotes; they override the file. A key
// that the file sweeps stays a column even with one value. Every cell is checked as any experiment is. Unless
// each draws its own, trained cells take the split that lies, or will lie, in split_file(). `out`:
// output.dir, unless empty. Throws Exit::usage.
Sweep load_sweep(const fs::path& file, const std::vector<std::string>& arguments,
                 const std::string& out = "");

fs::path split_file(const Sweep& sweep);

}  // namespace voxswap::experiments
