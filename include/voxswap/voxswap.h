// The whole library: read an experiment, check its data, plan a step, train, predict, evaluate, report.
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
