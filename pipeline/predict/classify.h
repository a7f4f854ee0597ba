// From probabilities to the class of an image.
#pragma once

#include <span>
#include <string>

#include "data/layouts/dataset.h"
#include "pipeline/report/class_tables.h"

namespace voxswap::pipeline {

// The class with the largest probability, of equal ones the first. REQUIRES: there are some.
std::size_t most_likely(std::span<const float> probabilities);

// What is known of an image of a data set of classes; its truth is empty where nobody knows it. `run`,
// `repeat` and `resolution` are the caller's to fill.
ClassRow class_row(const data::Dataset& dataset, const data::CaseFiles& files,
                   std::span<const float> probabilities);

// "accuracy 0.950, 19 of 20 images", for people.
std::string accuracy_text(const std::vector<ClassRow>& rows);

}  // namespace voxswap::pipeline
