// Histograms are estimated from percentiles: voxels are spread evenly between neighbouring percentiles.
#include "pipeline/cases/intensity_plot.h"

#include <algorithm>

#include "base/text.h"
#include "metrics/box_statistics.h"
#include "pipeline/report/figure.h"
#include "pipeline/report/palette.h"

namespace voxswap::pipeline {

namespace {

constexpr std::size_t bins = 120;
constexpr std::size_t most_lines = 60;  // cases drawn, evenly sampled if there are more

using Density = std::vector<double>;  // share of voxels per bin

Density density_of(const Intensities& of, const Range& range) {
  Density density(bins, 0);
  const double width = (range.high - range.low) / static_cast<double>(bins);
  for (std::size_t i = 0; i + 1 < of.percentiles.size(); ++i) {
    const double from = of.percentiles[i], to = std::max(of.percentiles[i + 1], from + width / 2);
    const double share = (Intensities::ranks[i + 1] - Intensities::ranks[i]) / 100;
    for (std::size_t bin = 0; bin < bins; ++bin) {
      const double left = range.low + static_cast<double>(bin) * width;
      const double overlap = std::min(to, left + width) - std::max(from, left);
      if (overlap > 0) density[bin] += share * overlap / (to - from);
    }
  }
  return density;
}

// Ignores outliers, such as images of a different scale, which would squeeze the other curves.
Range range_of(const std::vector<const Intensities*>& cases) {
  std::vector<double> lowest, highest;
  for (const Intensities* one : cases) {
    lowest.push_back(one->lowest());
    highest.push_back(one->highest());
  }
  Range range;
  range.include(metrics::box_statistics(lowest).whisker_low);
  range.include(metrics::box_statistics(highest).whisker_high);
  return range.padded();
}

std::string lines_of(const Density& density, const Range& range) {
  std::string lines;
  for (std::size_t bin = 0; bin < bins; ++bin)
    lines += format("{} {}\n", range.low + (static_cast<double>(bin) + 0.5) * (range.high - range.low) / bins,
                    100 * density[bin]);
  return lines;
}

}  // namespace

Picture intensity_plot(const Fingerprint& fingerprint) {
  Figure figure{.title = "Foreground intensities",
                .heading = "% of foreground voxels; thin lines: cases, thick lines: mean"};
  const std::vector<std::string>& channels = fingerprint.dataset.modalities;
  figure.columns = channels.size() > 1 ? 2 : 1;
  figure.width = figure.columns == 2 ? 760 : 560;
  for (std::size_t channel = 0; channel < channels.size(); ++channel) {
    std::vector<const Intensities*> of;
    for (const CaseFingerprint& one : fingerprint.cases)
      if (one.channels[channel]) of.push_back(&*one.channels[channel]);
    if (of.empty()) continue;
    const Range range = range_of(of);
    const auto beyond = std::count_if(of.begin(), of.end(), [&](const Intensities* one) {
      return one->lowest() < range.low || one->highest() > range.high;
    });
    const std::string note =
        beyond > 0 ? format(" ({} of {} exceed the axis)", beyond, counted(of.size(), "case")) : "";
    Panel panel{channels[channel] + note, number_axis(range, 6, "intensity")};
    Density mean(bins, 0);
    double highest = 0;
    const std::size_t step = of.size() / most_lines + 1;
    for (std::size_t i = 0; i < of.size(); ++i) {
      const Density density = density_of(*of[i], range);
      for (std::size_t bin = 0; bin < bins; ++bin) mean[bin] += density[bin] / static_cast<double>(of.size());
      if (of.size() == 1 || i % step != 0) continue;
      highest = std::max(highest, *std::max_element(density.begin(), density.end()));
      figure.add(panel, lines_of(density, range), "1:2", format("lines lc rgb '{}' lw 1", plot_line));
    }
    highest = std::max(highest, *std::max_element(mean.begin(), mean.end()));
    figure.add(panel, lines_of(mean, range), "1:2", format("lines lc rgb '{}' lw 2", plot_color(channel)));
    panel.y = axis_from_zero(100 * highest, 4);
    figure.panels.push_back(std::move(panel));
  }
  return figure.panels.empty() ? Picture{} : figure.draw();
}

}  // namespace voxswap::pipeline
