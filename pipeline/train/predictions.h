// The part of a run after training: the best weights of every repeat predict the validation cases, whose
// label maps and pictures are written and scored. The cases are divided among ranks.
#pragma once

#include "pipeline/cases/cases.h"
#include "pipeline/cases/options.h"

namespace voxswap::pipeline {

// All ranks call it when the first has written the weights; it writes dice.csv.
void predict_and_score(const RunOptions& options, Cases& cases, const Split& split);
// The same of images that get one class: classes.csv and confusion.csv. The first rank does it alone.
void predict_and_count(const RunOptions& options, Cases& cases, const Split& split);

}  // namespace voxswap::pipeline
