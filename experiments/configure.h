// voxswap configure: an experiment for a data set, chosen from its fingerprint and from plans, with a reason
// for every key.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/choices.h"
#include "experiments/experiment.h"
#include "pipeline/cases/fingerprint.h"

namespace voxswap::experiments {

struct Configuration {
  std::vector<Choice> choices;  // all keys of the file
  std::vector<Candidate> candidates;
  std::size_t chosen = 0;
  std::vector<std::size_t> swept;                    // the best candidates where several were asked for
  std::string device, precision, costs;              // of the plans
  std::int64_t networks = 1, epochs = 0, folds = 0;  // epochs of each network
  double training_seconds = 0;                       // of the chosen candidate, all networks
  Experiment experiment;
  std::string text;  // the file
};

// What is known before the data set is looked at: where the data and the run's folder are.
Experiment unconfigured(const ConfigureRequest& request);

// `split`: the file with splits_text(), where cases are left out; empty: folds are drawn. Throws
// Exit::does_not_fit when no candidate fits, or not a single epoch.
Configuration configure(const pipeline::Fingerprint& fingerprint, const ConfigureRequest& request,
                        const fs::path& split = {});

// The folds of the cases that can be read, as in nnU-Net's splits_final.json.
std::string splits_text(const pipeline::Fingerprint& fingerprint, std::int64_t folds);

}  // namespace voxswap::experiments
