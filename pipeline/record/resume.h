// Resuming a run: verifies that experiment, data and files are those that it was started with. Nothing is
// written here.
#pragma once

#include <optional>

#include "pipeline/cases/cases.h"
#include "pipeline/record/identity.h"

namespace voxswap::pipeline {

// The run that options.resume goes on with; nothing where a run begins. Throws Exit::bad_data when its
// experiment, or the list of the data's cases, is no longer what it was.
std::optional<RunIdentity> begun_run(const RunOptions& options, const data::Dataset& dataset);

// The run's own split, which is drawn once. Throws Exit::bad_data when it was changed, or options.split.file
// now says something else.
Split split_of(const std::optional<RunIdentity>& begun, const RunOptions& options,
               const data::Dataset& dataset);

// The run's identity, or that of a run that begins now. Throws Exit::bad_data when a file of a case that
// takes part has other bytes than before.
RunIdentity confirmed(std::optional<RunIdentity> begun, const RunOptions& options, Cases& cases,
                      const Split& split);

// The options with the identity that prediction checks checkpoints against. Throws Exit::bad_data when
// experiment.yaml, dataset.json or split.csv in the run's folder is not what the run was begun with.
RunOptions confirmed_for_prediction(RunOptions options);

}  // namespace voxswap::pipeline
