// Losses and seconds over the epochs: a colour per group of runs, a line per run and repeat.
#include <algorithm>
#include <map>
#include <tuple>

#include "base/text.h"
#include "pipeline/gnuplot.h"
#include "pipeline/plot_parts.h"
#include "pipeline/plots.h"

namespace voxswap {

namespace {

struct Series {
  std::size_t group = 0;
  std::vector<const EpochRow*> rows;
};

std::vector<Series> series_of(const std::vector<EpochRow>& rows, const std::vector<RunGroup>& groups) {
  std::vector<Series> result;
  std::map<std::tuple<std::string, std::string, std::int64_t>, std::size_t> places;
  for (const EpochRow& row : rows) {
    const auto [found, fresh] = places.try_emplace({row.run, row.resolution, row.repeat}, result.size());
    if (fresh) result.push_back({group_of(groups, row.run, row.resolution), {}});
    result[found->second].rows.push_back(&row);
  }
  return result;
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
  return ranges;
}

std::string data_blocks(const std::vector<Series>& all) {
  std::string data;
  for (std::size_t i = 0; i < all.size(); ++i) {
    data += format("$series{} << END_OF_DATA\n", i);
    for (const EpochRow* row : all[i].rows)
      data += format("{} {} {} {}\n", row->epoch, row->train_loss, row->validation_loss, row->seconds);
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

// One group: training and validation have colours of their own. Several: a colour each, training dashed.
struct Paint {
  std::size_t groups;
  std::string training(std::size_t group) const {
    return groups == 1 ? plot_color(1, 2) : plot_color(group, groups);
  }
  std::string validation(std::size_t group) const { return plot_color(group, groups); }
  const char* training_dash() const { return groups == 1 ? "1" : "'-'"; }
};

std::vector<LegendEntry> legend_of(const std::vector<RunGroup>& groups) {
  const Paint paint{groups.size()};
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; groups.size() > 1 && i < groups.size(); ++i) {
    entries.push_back({group_label(groups[i].resolution, groups[i].setting),
                       format("lines lc rgb '{}' lw 1.8", paint.validation(i))});
  }
  const bool one = groups.size() == 1;
  entries.push_back({"training", format("lines lc rgb '{}' dt {} lw 1.2", one ? paint.training(0) : plot_ink,
                                        paint.training_dash())});
  entries.push_back({"validation", format("lines lc rgb '{}' lw 1.8", one ? paint.validation(0) : plot_ink)});
  return entries;
}

std::string loss_elements(const std::vector<Series>& all, const Ranges& ranges, const Paint& paint) {
  std::vector<std::string> elements;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t group = all[i].group;
    elements.push_back(format("$series{} using 1:2 {} notitle", i,
                              style(ranges, paint.training(group), paint.training_dash(), 1.2)));
    elements.push_back(
        format("$series{} using 1:3 {} notitle", i, style(ranges, paint.validation(group), "1", 1.8)));
  }
  return join(elements, ", ");
}

std::string seconds_elements(const std::vector<Series>& all, const Ranges& ranges, const Paint& paint) {
  std::vector<std::string> elements;
  for (std::size_t i = 0; i < all.size(); ++i) {
    elements.push_back(
        format("$series{} using 1:4 {} notitle", i, style(ranges, paint.validation(all[i].group), "1", 1.5)));
  }
  return join(elements, ", ");
}

}  // namespace

Picture epochs_plot(const std::vector<EpochRow>& rows, const std::vector<RunGroup>& groups) {
  const std::vector<Series> all = series_of(rows, groups);
  const Ranges ranges = ranges_of(rows);
  const Paint paint{groups.size()};
  const int width = 760;
  const Legend legend(legend_of(groups), width - 60);
  const int top = 56 + legend.height(), height = top + 460;
  const double seconds_top = ranges.seconds.high > 0 ? ranges.seconds.high * 1.1 : 1;
  const double epochs = ranges.epochs.high - ranges.epochs.low + 1;
  // A loss that is NaN leaves a gap.
  const std::string script =
      data_blocks(all) + "set datafile missing 'nan'\nset multiplot\nset ytics\nset grid x y\n" +
      side_margins(72, 20, width) +
      format("set xrange [{}:{}]\nset xtics {} format ''\n", ranges.epochs.low - 0.5,
             ranges.epochs.high + 0.5, std::max(1.0, tic_step(epochs, 10))) +
      panel_place(top, top + 240, height) + "unset key\n" +
      format("set title 'Loss' textcolor rgb '{}' offset 0,-0.4\n", plot_ink) +
      format("set yrange {}\nplot {}\n", ranges.losses.padded().text(), loss_elements(all, ranges, paint)) +
      "set xtics format '%g'\nset title 'Seconds per epoch'\n" + panel_place(top + 284, height - 56, height) +
      format("set xlabel 'epoch' offset 0,0.3 textcolor rgb '{}'\nset yrange [0:{}]\nset ytics {}\n",
             plot_ink, seconds_top, tic_step(seconds_top, 5)) +
      format("plot {}\n", seconds_elements(all, ranges, paint)) + legend.plot(8, width, height) +
      "unset multiplot\n";
  return draw(script, width, height);
}

}  // namespace voxswap
