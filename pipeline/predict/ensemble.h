// Ensembles: several runs that predict together, as the folds of a cross-validation or models with other
// seeds.
#pragma once

#include <vector>

#include "data/layouts/dataset.h"
#include "pipeline/cases/options.h"
#include "pipeline/predict/predictor.h"

namespace voxswap::pipeline {

// Every repeat of every run.
std::vector<Member> members_of(const std::vector<RunOptions>& runs);

// Their probabilities can be averaged where they prepare cases alike and are one network with one meaning of
// its channels and outputs. Throws Exit::usage naming what differs. `trained`: what each was trained on.
void check_alike(const std::vector<RunOptions>& runs, const std::vector<data::Dataset>& trained,
                 const PredictOptions& how);

}  // namespace voxswap::pipeline
