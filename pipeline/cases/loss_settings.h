// Completes the loss settings of an experiment from its data.
#pragma once

#include <string>
#include <vector>

#include "data/layouts/dataset.h"
#include "net/steps/step.h"
#include "pipeline/cases/cases.h"
#include "pipeline/cases/experiment.h"

namespace voxswap::pipeline {

// Sets what may be unannotated, and the output weights given by name. Throws Exit::usage if no output has
// such a name, and for a loss of classes with partially annotated cases.
void resolve_loss(TrainingOptions& training, const data::Dataset& dataset);

// training.class_weights: auto: weight 1 / ln(1.02 + f) for an output with frequency f among the voxels of
// these cases on the training grid (ENet, Paszke et al. 2016); for image classification, among the images.
// REQUIRES: the cases are prepared.
void weigh_by_frequency(TrainingOptions& training, Cases& cases, const std::vector<std::size_t>& of);

net::LossOptions loss_of(const TrainingOptions& training);

// For display: "background 0.71, edema 8.2".
std::string weights_text(const TrainingOptions& training, const data::Dataset& dataset);

}  // namespace voxswap::pipeline
