// Scores ensembles of two runs on the validation cases that both share. The networks predict these cases
// again, since their label maps alone are not enough.
#pragma once

#include <vector>

#include "pipeline/record/resume.h"
#include "pipeline/report/ensembles.h"

namespace voxswap::pipeline {

// For each pair of finished runs (indices into `runs`), the rows of its common validation cases, or the
// reason why the two cannot be combined. Averages the first repeats of both runs, then the second, and so on;
// the run with fewer begins again. For runs with evaluate.ensemble, all repeats. Each run predicts a case
// once, even if it is in several pairs; the probabilities of all these runs are in memory at the same time.
std::vector<EnsembleScores> score_ensembles(const std::vector<TrainedRun>& runs,
                                            const std::vector<RunPair>& pairs);

}  // namespace voxswap::pipeline
