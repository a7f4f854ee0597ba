// Losses and seconds over the epochs, one colour per run, resolution and repeat.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "base/text.h"
#include "pipeline/gnuplot.h"
#include "pipeline/plots.h"

namespace voxswap {

namespace {

struct Series {
  std::string run, resolution;
  std::int64_t repeat = 1;
  std::string label;
  std::vector<const EpochRow*> rows;
};

// In the order of the table; the label names only what tells the series apart.
std::vector<Series> series_of(const std::vector<EpochRow>& rows) {
  std::vector<Series> result;
  std::map<std::tuple<std::string, std::string, std::int64_t>, std::size_t> places;
  std::set<std::string> runs, resolutions;
  std::set<std::int64_t> repeats;
  for (const EpochRow& row : rows) {
    const auto [found, fresh] = places.try_emplace({row.run, row.resolution, row.repeat}, result.size());
    if (fresh) result.push_back({row.run, row.resolution, row.repeat, "", {}});
    result[found->second].rows.push_back(&row);
    runs.insert(row.run);
    resolutions.insert(row.resolution);
    repeats.insert(row.repeat);
  }
  for (Series& series : result) {
    std::vector<std::string> parts;
    if (runs.size() > 1) parts.push_back(series.run);
    if (resolutions.size() > 1) parts.push_back(series.resolution);
    if (repeats.size() > 1) parts.push_back(format("repeat {}", series.repeat));
    series.label = join(parts, ", ");
  }
  return result;
}

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void include(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  // With a margin, and never empty: gnuplot refuses to draw without a range.
  Range padded() const {
    if (low > high) return {0, 1};
    const double margin = high > low ? 0.06 * (high - low) : std::max(0.05 * std::fabs(low), 1e-3);
    return {low - margin, high + margin};
  }
  std::string text() const { return format("[{}:{}]", low, high); }
};

// A step of 1, 2 or 5 times a power of ten that gives at most `tics` tics over `range`.
double tic_step(double range, double tics) {
  const double least = range / tics, power = std::pow(10, std::floor(std::log10(least)));
  for (const double step : {1, 2, 5}) {
    if (step * power >= least) return step * power;
  }
  return 10 * power;
}

struct Ranges {
  Range epochs, losses, seconds;
};

Ranges ranges_of(const std::vector<EpochRow>& rows) {
  Ranges ranges;
  for (const EpochRow& row : rows) {
    ranges.epochs.include(static_cast<double>(row.epoch));
    ranges.losses.include(row.train_loss);
    ranges.losses.include(row.validation_loss);
    ranges.seconds.include(row.seconds);
  }
  if (ranges.epochs.low > ranges.epochs.high) ranges.epochs = {1, 1};
  return ranges;
}

std::string data_blocks(const std::vector<Series>& all) {
  std::string data;
  for (std::size_t i = 0; i < all.size(); ++i) {
    data += format("$series{} << END_OF_DATA\n", i);
    for (const EpochRow* row : all[i].rows) {
      data += format("{} {} {} {}\n", row->epoch, row->train_loss, row->validation_loss, row->seconds);
    }
    data += "END_OF_DATA\n";
  }
  return data;
}

// Points where there are few epochs: a line through one point is invisible.
std::string style(const Ranges& ranges, const std::string& color, const char* dash, double width) {
  const bool few = ranges.epochs.high - ranges.epochs.low < 40;
  return format("with {} lc rgb '{}' dt {} lw {}{}", few ? "linespoints" : "lines", color, dash, width,
                few ? " pt 7 ps 0.4" : "");
}

std::string loss_elements(const std::vector<Series>& all, const Ranges& ranges) {
  std::vector<std::string> elements;
  const bool single = all.size() == 1;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string color = plot_color(i, all.size());
    elements.push_back(format("$series{} using 1:2 {} {}", i,
                              style(ranges, single ? plot_color(1, 2) : color, single ? "1" : "'-'", 1.2),
                              single ? "title 'training'" : "notitle"));
    elements.push_back(format("$series{} using 1:3 {} title {}", i, style(ranges, color, "1", 1.8),
                              gnuplot_text(single ? "validation" : all[i].label)));
  }
  if (!single) {
    elements.push_back(format("keyentry with lines lc rgb '{}' dt '-' lw 1.2 title 'training'", plot_ink));
    elements.push_back(format("keyentry with lines lc rgb '{}' lw 1.8 title 'validation'", plot_ink));
  }
  return join(elements, ", ");
}

std::string seconds_elements(const std::vector<Series>& all, const Ranges& ranges) {
  std::vector<std::string> elements;
  for (std::size_t i = 0; i < all.size(); ++i) {
    elements.push_back(
        format("$series{} using 1:4 {} notitle", i, style(ranges, plot_color(i, all.size()), "1", 1.5)));
  }
  return join(elements, ", ");
}

}  // namespace

Picture epochs_plot(const std::vector<EpochRow>& rows) {
  std::vector<Series> all = series_of(rows);
  if (all.empty()) all.emplace_back();
  const Ranges ranges = ranges_of(rows);
  std::size_t longest = 10;
  for (const Series& series : all) longest = std::max(longest, series.label.size());
  const bool single = all.size() == 1;
  const int legend = single ? 0 : static_cast<int>(longest) * 8 + 50;
  const int width = 720 + legend, height = std::max(500, 80 + 20 * (static_cast<int>(all.size()) + 2));
  const double w = width, h = height, right = 1 - (legend + 20) / w;
  const auto panel = [&](double top, double bottom) {
    return format("set tmargin at screen {}\nset bmargin at screen {}\n", top, bottom);
  };
  const double split = 190 / h;
  const double seconds_top = ranges.seconds.high > 0 ? ranges.seconds.high * 1.1 : 1;
  // A loss that is NaN leaves a gap.
  const std::string script =
      data_blocks(all) + "set datafile missing 'nan'\nset multiplot\n" +
      format("set lmargin at screen {}\nset rmargin at screen {}\nset ytics\nset grid x y\n", 72 / w, right) +
      format("set xrange [{}:{}]\n", ranges.epochs.low - 0.5, ranges.epochs.high + 0.5) +
      format("set xtics {} format ''\n",
             std::max(1.0, tic_step(ranges.epochs.high - ranges.epochs.low + 1, 10))) +
      panel(1 - 40 / h, split + 20 / h) +
      format("set title 'Loss' textcolor rgb '{}' offset 0,-0.4\n", plot_ink) +
      (single ? std::string("set key top right\n")
              : format("set key at screen {},{} left top Left reverse\n", right + 16 / w, 1 - 40 / h)) +
      format("set yrange {}\nplot {}\n", ranges.losses.padded().text(), loss_elements(all, ranges)) +
      "unset key\nset xtics format '%g'\nset title 'Seconds per epoch'\n" + panel(split - 24 / h, 60 / h) +
      format("set xlabel 'epoch' offset 0,0.3 textcolor rgb '{}'\nset yrange [0:{}]\nset ytics {}\n",
             plot_ink, seconds_top, tic_step(seconds_top, 5)) +
      format("plot {}\nunset multiplot\n", seconds_elements(all, ranges));
  return draw(script, width, height);
}

}  // namespace voxswap
