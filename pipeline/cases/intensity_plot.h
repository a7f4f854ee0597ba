// Histograms of the intensities of a data set.
#pragma once

#include "pipeline/cases/fingerprint.h"
#include "pipeline/report/gnuplot.h"

namespace voxswap::pipeline {

// Histogram of foreground intensities: one panel per channel, a line per case and one for their mean, in
// which each case has the same weight. Empty if no channel has a foreground. Throws NoGnuplot.
Picture intensity_plot(const Fingerprint& fingerprint);

}  // namespace voxswap::pipeline
