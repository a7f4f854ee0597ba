// Functions shared by `voxswap configure` and `voxswap run DATASET`.
#pragma once

#include <string>

#include "cli/options.h"
#include "experiments/configure.h"

namespace voxswap::cli {

// Throws Exit::bad_data that lists the unreadable cases, unless `leave_out`.
pipeline::Fingerprint fingerprint_for(const experiments::ConfigureRequest& request, bool leave_out);

bool is_dataset_folder(const fs::path& path);  // a folder that is not a run
// The experiment of `voxswap run DATASET`: chosen now for so many hours of training or, with `resume`, read
// from the existing run.
experiments::LoadedExperiment configured(const ExperimentArguments& where, double hours, bool resume);

// The results of `voxswap configure` as tables, HTML page and JSON.
std::string fingerprint_text(const pipeline::Fingerprint& fingerprint);
std::string configuration_text(const experiments::Configuration& configuration);
std::string configuration_page(const pipeline::Fingerprint& fingerprint,
                               const experiments::Configuration& configuration);
std::string configuration_json(const pipeline::Fingerprint& fingerprint,
                               const experiments::Configuration& configuration);

}  // namespace voxswap::cli
