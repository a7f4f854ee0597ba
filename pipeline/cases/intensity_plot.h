// Histograms of the intensities of a data set.
#pragma once

#include "pipeline/cases/fingerprint.h"
#include "pipeline/report/gnuplot.h"

namespace voxswap::pipeline {

// How often the foregrounds of a data set have an intensity: a panel per channel, a line per case, and one of
// all cases together. Every case counts the same. Empty where no channel has any. Throws NoGnuplot.
Picture intensity_plot(const Fingerprint& fingerprint);

}  // namespace voxswap::pipeline
