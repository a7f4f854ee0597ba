// Kinds of values that only one key has: one function per key.
#pragma once

#include "experiments/key.h"

namespace voxswap::experiments::kinds {

Key resolution();       // preprocess.resolution
Key background();       // preprocess.background
Key bias_correction();  // preprocess.bias_correction
Key clip();             // preprocess.clip
Key patch();            // training.patch
Key evaluated_at();     // evaluate.at
Key frozen();           // training.freeze
Key logs();             // training.log
Key scored_metrics();   // evaluate.metrics

}  // namespace voxswap::experiments::kinds
