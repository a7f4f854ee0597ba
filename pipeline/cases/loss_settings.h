// The loss of a run, from the experiment and the data.
#pragma once

#include <string>
#include <vector>

#include "data/layouts/dataset.h"
#include "net/steps/step.h"
#include "pipeline/cases/cases.h"
#include "pipeline/cases/options.h"

namespace voxswap::pipeline {

// What may be unknown, and the weights of outputs that the experiment gives by name. Throws Exit::usage for a
// name that no output has, and for classes where some truths tell of some labels only.
void resolve_loss(TrainingOptions& training, const data::Dataset& dataset);

// training.class_weights: auto: 1 / ln(1.02 + f) for an output that f of the voxels of these cases have
// (Paszke et al. 2016, ENet), on the training grid; of images, that have it for their class. REQUIRES: the
// cases are prepared.
void weigh_by_frequency(TrainingOptions& training, Cases& cases, const std::vector<std::size_t>& of);

net::LossOptions loss_of(const TrainingOptions& training);

// "background 0.71, edema 8.2", for people.
std::string weights_text(const TrainingOptions& training, const data::Dataset& dataset);

}  // namespace voxswap::pipeline
