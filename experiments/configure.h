// `voxswap configure`: chooses an experiment for a data set from its fingerprint and from memory plans, with
// a reason for every key.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/candidates.h"
#include "experiments/experiment.h"
#include "pipeline/cases/fingerprint.h"

namespace voxswap::experiments {

struct Configuration {
  std::vector<Choice> choices;  // all keys of the file
  std::vector<Candidate> candidates;
  std::size_t chosen = 0;
  std::vector<std::size_t> swept;                    // the best candidates, if several were requested
  std::string device, precision, costs;              // for which steps were planned
  std::int64_t networks = 1, epochs = 0, folds = 0;  // epochs: per network
  double training_seconds = 0;                       // of the chosen candidate, for all networks
  LoadedExperiment experiment;
  std::string text;  // content of the file
};

// The experiment before the data set is read: only its data and output folders.
LoadedExperiment unconfigured(const ConfigureRequest& request);

// `split`: file with splits_text(), needed if cases are skipped; empty: random folds. Throws
// Exit::does_not_fit if no candidate fits, or not a single epoch fits into the time.
Configuration configure(const pipeline::Fingerprint& fingerprint, const ConfigureRequest& request,
                        const fs::path& split = {});

// The folds of the readable cases, in the format of nnU-Net's splits_final.json.
std::string splits_text(const pipeline::Fingerprint& fingerprint, std::int64_t folds);

}  // namespace voxswap::experiments
