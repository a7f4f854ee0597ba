// All headers of the library: experiments, data checks, plans, training, prediction, evaluation, reports.
#pragma once

#include "voxswap/dataset.h"
#include "voxswap/error.h"
#include "voxswap/evaluate.h"
#include "voxswap/experiment.h"
#include "voxswap/plan.h"
#include "voxswap/predict.h"
#include "voxswap/report.h"
#include "voxswap/run.h"
#include "voxswap/version.h"
