// What `voxswap configure` and `voxswap run DATASET` share.
#pragma once

#include <string>

#include "cli/options.h"
#include "experiments/configure.h"

namespace voxswap::cli {

// Throws Exit::bad_data listing the cases that cannot be read, unless they are to be left out.
pipeline::Fingerprint fingerprint_for(const experiments::ConfigureRequest& request, bool leave_out);

bool is_dataset_folder(const fs::path& path);  // a folder that is no run's
// The experiment of `voxswap run DATASET`: chosen now, or with `resume` the one that the run there has.
experiments::Experiment configured(const ExperimentArguments& where, bool resume);

// What `voxswap configure` found and chose, as tables, as a page and as JSON.
std::string fingerprint_text(const pipeline::Fingerprint& fingerprint);
std::string configuration_text(const experiments::Configuration& configuration);
std::string configuration_page(const pipeline::Fingerprint& fingerprint,
                               const experiments::Configuration& configuration);
std::string configuration_json(const pipeline::Fingerprint& fingerprint,
                               const experiments::Configuration& configuration);

}  // namespace voxswap::cli
