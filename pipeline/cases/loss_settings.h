// The loss of an experiment, with what it takes from the data.
#pragma once

#include <string>
#include <vector>

#include "data/layouts/dataset.h"
#include "net/steps/step.h"
#include "pipeline/cases/cases.h"
#include "pipeline/cases/experiment.h"

namespace voxswap::pipeline {

// The output weights given by name; empty: none. Throws Exit::usage if no output has such a name, and for a
// loss of classes with partially annotated cases.
std::vector<double> weights_by_name(const TrainingOptions& training, const data::Dataset& dataset);

// training.class_weights: auto: weight 1 / ln(1.02 + f) for an output with frequency f among the voxels of
// these cases on the training grid (ENet, Paszke et al. 2016); for image classification, among the images.
// REQUIRES: the cases are prepared.
std::vector<double> weights_by_frequency(const TrainingOptions& training, Cases& cases,
                                         const std::vector<std::size_t>& of);

// `unknown`: what the ground truth may leave unannotated. `weights`: of the outputs; empty: all 1.
net::LossOptions loss_of(const TrainingOptions& training, net::Unknown unknown = net::Unknown::nothing,
                         const std::vector<double>& weights = {});

// For display: "background 0.71, edema 8.2".
std::string weights_text(const std::vector<double>& weights, const TrainingOptions& training,
                         const data::Dataset& dataset);

}  // namespace voxswap::pipeline
