// The identity of a run: its experiment, data and split, stored as identity.json in its folder. Resume and
// prediction verify that it is unchanged.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/csv.h"
#include "base/file.h"
#include "data/layouts/dataset.h"
#include "pipeline/cases/experiment.h"
#include "pipeline/record/checkpoint.h"
#include "pipeline/report/setting.h"

namespace voxswap::pipeline {

// All cases of a data set in order, with a hash of their files; empty for a case that is not used.
using CaseContents = std::vector<std::pair<std::string, std::string>>;

struct RunIdentity {
  std::string run;  // hash of the members below; equal for equal runs on any machine
  std::map<std::string, std::string> experiment;  // keys that affect results
  CaseContents cases;
  std::string split;  // hash of split.csv
};

// `settings`: every key of the experiment.
RunIdentity identify(const Experiment& experiment, const SettingList& settings, CaseContents cases,
                     const Csv& split);
inline constexpr const char* identity_file = "identity.json";
std::string identity_text(const RunIdentity& identity);
void write_identity(const fs::path& folder, const RunIdentity& identity);
bool has_identity(const fs::path& folder);
// Throws Exit::bad_data if the file is missing or was modified.
RunIdentity read_identity(const fs::path& folder);

// True if a resumed run may use another value of a key that decides this: only if completed steps would have
// been the same.
bool may_change(Decides decides, const Experiment& experiment);

// Each check throws Exit::bad_data with the change and advice.
void check_experiment(const RunIdentity& identity, const Experiment& experiment, const SettingList& settings,
                      const std::vector<std::string>& sections);  // only keys that begin with one of these
// Verifies that steps continue as before: for batches of several samples, the identity must say how they are
// computed.
void check_batches(const RunIdentity& identity, const Experiment& experiment);
void check_split(const RunIdentity& identity, const fs::path& split_file);
void check_case_list(const RunIdentity& identity, const data::Dataset& dataset);
void check_contents(const RunIdentity& identity, const CaseContents& now, const fs::path& root);

// Model metadata of a checkpoint (run, repeat, inputs and outputs of the network), and its comparison with
// the expected entries. Entries missing in `expected` are not compared.
std::map<std::string, std::string> model_metadata(const data::Dataset& dataset, const Experiment& experiment,
                                                  const std::string& run, std::int64_t repeat);
void check_metadata(const Checkpoint& checkpoint, const std::map<std::string, std::string>& expected,
                    const std::string& where);

}  // namespace voxswap::pipeline
