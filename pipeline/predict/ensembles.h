// Scores ensembles of two runs on the cases that both held out, which their label maps alone cannot tell: the
// networks predict these cases again.
#pragma once

#include <vector>

#include "pipeline/cases/options.h"
#include "pipeline/report/ensembles.h"

namespace voxswap::pipeline {

// Of each pair of finished runs (places in `runs`) the rows of its validation cases, or why the two cannot
// predict together. The pair's repeats are averaged in turn, the first of one with the first of the other; of
// runs with evaluate.ensemble, all of them. Each case is predicted once by every run that it needs, however
// many pairs the run is in; the probabilities of these runs are in memory at once.
std::vector<EnsembleScores> score_ensembles(const std::vector<RunOptions>& runs,
                                            const std::vector<RunPair>& pairs);

}  // namespace voxswap::pipeline
