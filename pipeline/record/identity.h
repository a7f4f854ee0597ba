// The identity of a run: its experiment, data and split, as identity.json in its folder. Resuming and
// predicting verify that all of it is unchanged.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/csv.h"
#include "base/file.h"
#include "data/layouts/dataset.h"
#include "pipeline/cases/options.h"
#include "pipeline/record/checkpoint.h"

namespace voxswap::pipeline {

// Every case of a data set, in its order, with a hash of its files' bytes; empty for one that takes no part.
using CaseContents = std::vector<std::pair<std::string, std::string>>;

struct RunIdentity {
  std::string run;  // of the three below, so that the same run has the same one wherever it is made
  std::map<std::string, std::string> experiment;  // the keys that bear on what comes out
  CaseContents cases;
  std::string split;  // hash of split.csv
};

RunIdentity identify(const RunOptions& options, CaseContents cases, const Csv& split);
void write_identity(const fs::path& folder, const RunIdentity& identity);
bool has_identity(const fs::path& folder);
// Throws Exit::bad_data when it is not there, or not what was written.
RunIdentity read_identity(const fs::path& folder);

// May a run go on although a key that decides this is another than before? Only if the steps already made
// would have been the same.
bool may_change(Decides decides, const RunOptions& options);

// The checks. Each throws Exit::bad_data, saying what changed and what to do.
void check_experiment(const RunIdentity& identity, const RunOptions& options,
                      const std::vector<std::string>& sections);  // keys that begin with one of these
// Whether steps go on as those before: with batches of several samples only where the run says how it takes
// them.
void check_batches(const RunIdentity& identity, const RunOptions& options);
void check_split(const RunIdentity& identity, const fs::path& split_file);
void check_case_list(const RunIdentity& identity, const data::Dataset& dataset);
void check_contents(const RunIdentity& identity, const CaseContents& now, const fs::path& root);

// The run, the repeat and what the network reads and writes, in a checkpoint's metadata, and whether that is
// what is expected. What `expected` leaves out is not asked for.
std::map<std::string, std::string> model_metadata(const data::Dataset& dataset, const RunOptions& options,
                                                  const std::string& run, std::int64_t repeat);
void check_metadata(const Checkpoint& checkpoint, const std::map<std::string, std::string>& expected,
                    const std::string& where);

}  // namespace voxswap::pipeline
