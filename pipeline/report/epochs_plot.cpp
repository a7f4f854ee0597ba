// A training over its epochs: losses, Dice, learning rate and seconds; a colour per group of runs, a line per
// run and repeat, and a ring at the epoch whose weights are kept.
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/text.h"
#include "pipeline/report/palette.h"
#include "pipeline/report/plot_parts.h"
#include "pipeline/report/plots.h"

namespace voxswap::pipeline {

namespace {

using Name = std::tuple<std::string, std::string, std::int64_t>;  // run, resolution, repeat

// Of the regions; NaN without any.
struct Mean {
  double value = std::nan("");
  int count = 0;
  void add(double region) {
    if (!std::isnan(region)) value = count++ == 0 ? region : value + (region - value) / count;
  }
};

struct Series {
  std::size_t group = 0;
  std::vector<const EpochRow*> rows;
  std::map<std::int64_t, Mean> dice, averaged_dice;  // by epoch

  // As training chooses it: the first of the lowest validation losses.
  const EpochRow* best() const {
    const EpochRow* best = nullptr;
    for (const EpochRow* row : rows) {
      if (std::isnan(row->validation_loss)) continue;
      if (best == nullptr || row->validation_loss < best->validation_loss) best = row;
    }
    return best;
  }
};

std::vector<Series> series_of(const std::vector<EpochRow>& rows, const std::vector<ValidationRow>& validation,
                              const std::vector<RunGroup>& groups) {
  std::vector<Series> result;
  std::map<Name, std::size_t> places;
  for (const EpochRow& row : rows) {
    const auto [found, fresh] = places.try_emplace({row.run, row.resolution, row.repeat}, result.size());
    if (fresh) result.push_back({group_of(groups, row.run, row.resolution), {}, {}, {}});
    result[found->second].rows.push_back(&row);
  }
  for (const ValidationRow& row : validation) {
    const auto found = places.find({row.run, row.resolution, row.repeat});
    if (found == places.end()) continue;
    Series& series = result[found->second];
    series.dice[row.epoch].add(row.dice);
    series.averaged_dice[row.epoch].add(row.averaged_dice);
  }
  return result;
}

struct Ranges {
  Range epochs, losses, dice, rates, seconds, averaged;
};

double dice_at(const std::map<std::int64_t, Mean>& dice, std::int64_t epoch) {
  const auto found = dice.find(epoch);
  return found == dice.end() ? std::nan("") : found->second.value;
}

Ranges ranges_of(const std::vector<Series>& all) {
  Ranges ranges;
  for (const Series& series : all) {
    for (const EpochRow* row : series.rows) {
      ranges.epochs.include(static_cast<double>(row->epoch));
      ranges.losses.include(row->train_loss);
      ranges.losses.include(row->validation_loss);
      ranges.losses.include(row->averaged_validation_loss);
      ranges.averaged.include(row->averaged_validation_loss);
      ranges.dice.include(dice_at(series.dice, row->epoch));
      ranges.rates.include(row->learning_rate);
      ranges.seconds.include(row->seconds);
    }
  }
  return ranges;
}

// Columns: epoch, training loss, validation loss, Dice, learning rate, seconds, loss and Dice of averaged
// weights.
std::string line_of(const Series& series, const EpochRow& row) {
  return format("{} {} {} {} {} {} {} {}\n", row.epoch, row.train_loss, row.validation_loss,
                dice_at(series.dice, row.epoch), row.learning_rate, row.seconds, row.averaged_validation_loss,
                dice_at(series.averaged_dice, row.epoch));
}

std::string data_blocks(const std::vector<Series>& all) {
  std::string data;
  for (std::size_t i = 0; i < all.size(); ++i) {
    data += format("$series{} << END_OF_DATA\n", i);
    for (const EpochRow* row : all[i].rows) data += line_of(all[i], *row);
    const EpochRow* best = all[i].best();
    data += format("END_OF_DATA\n$best{} << END_OF_DATA\n{}END_OF_DATA\n", i,
                   best ? line_of(all[i], *best) : "0 nan nan nan nan nan nan nan\n");
  }
  return data;
}

// Points where there are few epochs: a line through one point is invisible.
std::string style(const Ranges& ranges, const std::string& color, const char* dash, double width) {
  const bool few = ranges.epochs.high - ranges.epochs.low < 40;
  return format("with {} lc rgb '{}' dt {} lw {}{}", few ? "linespoints" : "lines", color, dash, width,
                few ? " pt 7 ps 0.4" : "");
}

// One group: training and validation have colours of their own, which few experiments have a region for.
// Several: a colour each, training dashed.
struct Paint {
  std::size_t groups;
  std::string training(std::size_t group) const { return plot_color(groups == 1 ? 4 : group); }
  std::string validation(std::size_t group) const { return plot_color(groups == 1 ? 5 : group); }
  std::string averaged(std::size_t group) const { return plot_color(groups == 1 ? 6 : group); }
  const char* training_dash() const { return groups == 1 ? "1" : "'-'"; }
};

constexpr const char* averaged_dash = "'.'";
constexpr const char* ring = "points pt 6 ps 1.1 lw 1.6";

std::vector<LegendEntry> legend_of(const std::vector<RunGroup>& groups, bool averaged) {
  const Paint paint{groups.size()};
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; groups.size() > 1 && i < groups.size(); ++i)
    entries.push_back({groups[i].name, format("lines lc rgb '{}' lw 1.8", paint.validation(i))});
  const bool one = groups.size() == 1;
  entries.push_back({"training", format("lines lc rgb '{}' dt {} lw 1.2", one ? paint.training(0) : plot_ink,
                                        paint.training_dash())});
  entries.push_back({"validation", format("lines lc rgb '{}' lw 1.8", one ? paint.validation(0) : plot_ink)});
  if (averaged)
    entries.push_back({"averaged weights", format("lines lc rgb '{}' dt {} lw 1.8",
                                                  one ? paint.averaged(0) : plot_ink, averaged_dash)});
  entries.push_back({"best epoch, kept", format("{} lc rgb '{}'", ring, plot_ink)});
  return entries;
}

struct Panel {
  std::string title, range;
  int height;
  std::vector<int> columns;  // of the data; 2 is drawn as training, 7 and 8 as averaged weights
  double step;               // of the tics
  int rings;                 // the column that has them; 0: none
};

std::string elements_of(const Panel& panel, const std::vector<Series>& all, const Ranges& ranges,
                        const Paint& paint) {
  std::vector<std::string> elements;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t group = all[i].group;
    for (const int column : panel.columns) {
      const std::string drawn = column == 2 ? style(ranges, paint.training(group), paint.training_dash(), 1.2)
                                : column >= 7 ? style(ranges, paint.averaged(group), averaged_dash, 1.8)
                                              : style(ranges, paint.validation(group), "1", 1.8);
      elements.push_back(format("$series{} using 1:{} {} notitle", i, column, drawn));
    }
  }
  for (std::size_t i = 0; panel.rings > 0 && i < all.size(); ++i)
    elements.push_back(format("$best{} using 1:{} with {} lc rgb '{}' notitle", i, panel.rings, ring,
                              paint.validation(all[i].group)));
  return join(elements, ", ");
}

std::vector<Panel> panels_of(const Ranges& ranges) {
  const auto from_zero = [](const Range& range) { return range.high > 0 ? 1.1 * range.high : 1; };
  const Range losses = ranges.losses.padded();
  std::vector<Panel> panels = {
      {"Loss", losses.text(), 210, {2, 3}, tic_step(losses.high - losses.low, 7), 3}};
  if (!ranges.dice.empty())
    panels.push_back({"Mean Dice of the validation cases, training grid", "[0:1]", 130, {4}, 0.2, 4});
  if (!ranges.averaged.empty()) {
    panels[0].columns.push_back(7);
    if (panels.size() > 1) panels[1].columns.push_back(8);
  }
  for (const auto& [title, range, column] :
       {std::tuple{"Learning rate", &ranges.rates, 5}, std::tuple{"Seconds per epoch", &ranges.seconds, 6}}) {
    const double top = from_zero(*range);
    panels.push_back({title, format("[0:{}]", top), 100, {column}, tic_step(top, 4), 0});
  }
  return panels;
}

}  // namespace

Picture epochs_plot(const std::vector<EpochRow>& rows, const std::vector<ValidationRow>& validation,
                    const std::vector<RunGroup>& groups) {
  const std::vector<Series> all = series_of(rows, validation, groups);
  const Ranges ranges = ranges_of(all);
  const Paint paint{groups.size()};
  const std::vector<Panel> panels = panels_of(ranges);
  constexpr int width = 600, between = 38;
  const Legend legend(legend_of(groups, !ranges.averaged.empty()), width - 60);
  const int top = 44 + legend.height();
  int height = top + 22;
  for (const Panel& panel : panels) height += panel.height + between;
  std::string plots;
  double begin = top;
  for (const Panel& panel : panels) {
    if (&panel == &panels.back())
      plots +=
          format("set xtics format '%g'\nset xlabel 'epoch' offset 0,0.3 textcolor rgb '{}'\n", plot_ink);
    plots += panel_place(begin, begin + panel.height, height) +
             format("set title {} textcolor rgb '{}' offset 0,-0.4\nset yrange {}\nset ytics {}\nplot {}\n",
                    gnuplot_text(panel.title), plot_ink, panel.range, panel.step,
                    elements_of(panel, all, ranges, paint));
    begin += panel.height + between;
  }
  const double epochs = ranges.epochs.high - ranges.epochs.low + 1;
  // A loss that is NaN leaves a gap.
  const std::string script = data_blocks(all) +
                             "set datafile missing 'nan'\nset multiplot\nset grid x y\nunset key\n" +
                             side_margins(72, 24, width) +
                             format("set xrange [{}:{}]\nset xtics {} format ''\n", ranges.epochs.low - 0.5,
                                    ranges.epochs.high + 0.5, std::max(1.0, tic_step(epochs, 10))) +
                             plots + legend.plot(8, width, height) + "unset multiplot\n";
  return draw(script, width, height, "Training over its epochs");
}

}  // namespace voxswap::pipeline
