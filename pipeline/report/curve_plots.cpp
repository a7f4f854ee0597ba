// Plots with a curve per run and repeat, in a colour per group of runs: training by epoch, Dice of the
// validation cases over training time, and memory use over a step.
#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "base/units.h"
#include "pipeline/report/figure.h"
#include "pipeline/report/group_colors.h"
#include "pipeline/report/lists.h"
#include "pipeline/report/palette.h"
#include "pipeline/report/plots.h"

namespace voxswap::pipeline {

namespace {

// Adds the curves to the panel, each in the style of its group, and returns the range of their values. NaN
// leaves a gap; a curve without any number is omitted.
template <class Row, class X, class Y, class Style>
Range add_curves(Figure& figure, Panel& panel, const std::vector<Row>& rows,
                 const std::vector<RunGroup>& groups, X x, Y y, Style style) {
  struct Curve {
    const Row* first;
    std::string lines{};
    Range values{};
  };
  std::vector<Curve> curves;
  for (const Row& row : rows) {
    auto found =
        std::ranges::find_if(curves, [&](const Curve& curve) { return is_same_training(*curve.first, row); });
    if (found == curves.end()) found = curves.insert(found, {&row});
    const auto value = static_cast<double>(std::invoke(y, row));
    found->lines += format("{} {}\n", std::invoke(x, row), value);
    found->values.include(value);
  }
  Range all;
  for (const Curve& curve : curves) {
    all.include(curve.values);
    if (!curve.values.empty())
      figure.add(panel, curve.lines, "1:2",
                 style(group_of(groups, curve.first->run, curve.first->resolution)));
  }
  return all;
}

// A kind of curve. `color` is used for a single group: training and validation then have colours that few
// experiments use for regions. With several groups, each group has a colour.
struct CurveKind {
  const char *name, *dash;
  double width;
  std::size_t color;
};
constexpr CurveKind training{"training", "'-'", 1.2, 4}, validated{"validation", "1", 1.8, 5},
    averaged_weights{"averaged weights", "'.'", 1.8, 6};
constexpr const char* ring = "points pt 6 ps 1.1 lw 1.6";  // at the epoch whose weights are kept

// Only the lowest panel labels the epochs.
void set_axes(std::vector<Panel>& panels, const Range& epochs) {
  const Range shown{epochs.low - 0.5, epochs.high + 0.5};
  const std::string step = number(std::max(1.0, tic_step(shown.high - shown.low, 10)));
  for (Panel& panel : panels) panel.x = {shown, step + " format ''", "", 2};
  panels.back().x = {shown, step + " format '%g'", "epoch"};
}

}  // namespace

Picture epochs_plot(const std::vector<EpochRow>& rows, const std::vector<ValidationRow>& validation,
                    const std::vector<RunGroup>& groups, int width) {
  Range epochs;
  for (const EpochRow& row : rows) epochs.include(static_cast<double>(row.epoch));
  const bool one = groups.size() == 1, few = epochs.high - epochs.low < 40;
  const auto style = [&](const CurveKind& kind, const std::string& color) {
    return format("lc rgb '{}' dt {} lw {}", one ? plot_color(kind.color) : color,
                  one && &kind == &training ? "1" : kind.dash, kind.width);
  };
  Figure figure{.title = "Training curves", .width = std::max(600, width), .legend = group_legend(groups)};
  // Adds points if there are few epochs, since a line through one point is invisible.
  const auto add = [&](Panel& panel, const auto& of, auto value, const CurveKind& kind) {
    using Row = std::decay_t<decltype(of[0])>;
    return add_curves(figure, panel, of, groups, &Row::epoch, value, [&](std::size_t group) {
      return (few ? "linespoints pt 7 ps 0.4 " : "lines ") + style(kind, group_color(groups, group));
    });
  };
  const auto add_rings = [&](Panel& panel, const auto& of, auto value) {
    using Row = std::decay_t<decltype(of[0])>;
    add_curves(figure, panel, of, groups, &Row::epoch, value, [&](std::size_t group) {
      return format("{} lc rgb '{}'", ring, one ? plot_color(validated.color) : group_color(groups, group));
    });
  };
  const std::vector<EpochRow> best = best_epochs(rows);
  Panel loss{.title = "Loss", .height = 210};
  Range losses = add(loss, rows, &EpochRow::train_loss, training);
  losses.include(add(loss, rows, &EpochRow::validation_loss, validated));
  const Range average = add(loss, rows, &EpochRow::averaged_validation_loss, averaged_weights);
  losses.include(average);
  add_rings(loss, best, &EpochRow::validation_loss);
  loss.y = number_axis(losses.padded(), 7);

  std::vector<ValidationRow> means = means_over_regions(validation);
  Panel dice{
      .title = "Mean validation Dice, training grid", .y = number_axis({0, 1}, 5, "Dice"), .height = 130};
  add(dice, means, &ValidationRow::dice, validated);
  add(dice, means, &ValidationRow::averaged_dice, averaged_weights);
  std::erase_if(means, [&](const ValidationRow& mean) {
    return std::ranges::none_of(best, [&](const EpochRow& row) { return is_same_epoch(mean, row); });
  });
  add_rings(dice, means, &ValidationRow::dice);

  Panel rate{.title = "Learning rate", .height = 100}, time{.title = "Seconds per epoch", .height = 100};
  rate.y = axis_from_zero(add(rate, rows, &EpochRow::learning_rate, validated).high, 4);
  time.y = axis_from_zero(add(time, rows, &EpochRow::seconds, validated).high, 4);
  figure.panels = {loss, dice, rate, time};
  std::erase_if(figure.panels, [](const Panel& panel) { return panel.elements.empty(); });

  set_axes(figure.panels, epochs);
  for (const CurveKind* kind : {&training, &validated, &averaged_weights})
    if (kind != &averaged_weights || !average.empty())
      figure.legend.push_back({kind->name, "lines " + style(*kind, plot_ink)});
  figure.legend.push_back({"best epoch", format("{} lc rgb '{}'", ring, plot_ink)});
  return figure.draw();
}

Picture validation_plot(const std::vector<ValidationRow>& rows, const std::vector<RunGroup>& groups,
                        int width) {
  const std::vector<std::string> regions = distinct(rows, &ValidationRow::region);
  Range seconds;
  for (const ValidationRow& row : rows) seconds.include(row.trained_seconds);
  const double unit = seconds.high < 120 ? 1 : 60;
  const Axis time =
      axis_from_zero(seconds.high / unit, 5, unit > 1 ? "minutes of training" : "seconds of training");
  Figure figure{.title = "Validation Dice over training time",
                .heading = "Mean validation Dice, training grid",
                .legend = group_legend(groups)};
  figure.columns = regions.size() == 4 ? 2 : std::min<std::size_t>(regions.size(), 3);
  figure.width = std::max(figure.columns == 1 ? 520 : 690, width);
  for (std::size_t i = 0; i < regions.size(); ++i) {
    Panel panel{figure.fitting(with_spaces(regions[i])), time, number_axis({0, 1}, 5, "Dice")};
    std::vector<ValidationRow> of_region = rows;
    std::erase_if(of_region, [&](const ValidationRow& row) { return row.region != regions[i]; });
    add_curves(
        figure, panel, of_region, groups,
        [&](const ValidationRow& row) { return row.trained_seconds / unit; }, &ValidationRow::dice,
        [&](std::size_t group) {
          return format("linespoints lc rgb '{}' lw 1.4 pt 7 ps 0.35",
                        groups.size() == 1 ? plot_color(i) : group_color(groups, group));
        });
    panel.elements.push_back(empty_element);
    figure.panels.push_back(std::move(panel));
  }
  return figure.draw();
}

namespace {

struct Memory {
  const char* title;
  std::int64_t MemoryRow::*bytes;
  std::int64_t MemoryRow::*budget;
};
constexpr Memory memories[] = {{"Device arena", &MemoryRow::device_bytes, &MemoryRow::budget_bytes},
                               {"Host pool", &MemoryRow::host_bytes, &MemoryRow::host_budget_bytes},
                               {"Scratch file", &MemoryRow::disk_bytes, nullptr}};

struct Unit {
  const char* name;
  double bytes;
};

// REQUIRES: most > 0.
Unit unit_for(std::int64_t most) {
  constexpr Unit units[] = {{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}};
  return *std::ranges::find_if(units,
                               [&](const Unit& unit) { return static_cast<double>(most) >= unit.bytes; });
}

// One run per group, since the plans of repeats are identical. The last row describes memory after the step;
// it is replaced so that the curve ends with the last level within the step.
std::vector<MemoryRow> steps_of(const std::vector<MemoryRow>& rows, const std::vector<RunGroup>& groups) {
  std::vector<MemoryRow> steps;
  for (const std::vector<const MemoryRow*>& of_group : by_group(groups, rows)) {
    const std::size_t first = steps.size();
    for (const MemoryRow* row : of_group)
      if (row->run == of_group.front()->run) steps.push_back(*row);
    if (steps.size() < first + 2) continue;
    const double end = steps.back().seconds;
    steps.back() = steps[steps.size() - 2];
    steps.back().seconds = end;
  }
  return steps;
}

// Mentions a budget far above the curve in the title instead of compressing the plot.
void add_budgets(Panel& panel, const Memory& memory, const Unit& unit, double most,
                 const std::vector<MemoryRow>& steps, const std::vector<RunGroup>& groups) {
  std::map<std::int64_t, std::set<std::size_t>> budgets;  // groups with equal budgets share a line
  for (const MemoryRow& row : steps)
    if (memory.budget && row.*memory.budget > 0)
      budgets[row.*memory.budget].insert(group_of(groups, row.run, row.resolution));
  double highest = most;
  std::vector<std::string> far;
  for (const auto& [bytes, of] : budgets) {
    const double budget = static_cast<double>(bytes) / unit.bytes;
    if (budget > 1.7 * most) {
      far.push_back(format_bytes(bytes));
      continue;
    }
    highest = std::max(highest, budget);
    const std::string color =
        of.size() == 1 && groups.size() > 1 ? group_color(groups, *of.begin()) : limit_color;
    panel.elements.push_back(format("{} with lines lc rgb '{}' dt '-' lw 1.4 notitle", budget, color));
    panel.labels +=
        format("set label {} at graph 0.995,first {} right offset 0,0.5 font small textcolor rgb '{}'\n",
               gnuplot_text("budget " + format_bytes(bytes)), budget, color);
  }
  if (!far.empty()) panel.title += format(" (budget {}, above this plot)", join(far, " and "));
  panel.y = axis_from_zero(highest, 5);
}

}  // namespace

Picture memory_plot(const std::vector<MemoryRow>& rows, const std::vector<RunGroup>& groups, int width) {
  const std::vector<MemoryRow> steps = steps_of(rows, groups);
  double seconds = 0;
  for (const MemoryRow& row : steps) seconds = std::max(seconds, row.seconds);
  const double scale = seconds < 1 ? 1000 : 1;
  const Axis time =
      number_axis({0, seconds > 0 ? scale * seconds : 1}, 8,
                  format("{} within a step (predicted)", scale > 1 ? "milliseconds" : "seconds"));
  Figure figure{
      .title = "Memory over one step", .width = std::max(600, width), .legend = group_legend(groups)};
  for (const Memory& memory : memories) {
    std::int64_t most = 0;
    for (const MemoryRow& row : steps) most = std::max(most, row.*memory.bytes);
    if (most == 0) continue;
    const Unit unit = unit_for(most);
    Panel panel{.title = format("{}, {}", memory.title, unit.name), .x = time, .height = 176};
    const Range range = add_curves(
        figure, panel, steps, groups, [&](const MemoryRow& row) { return scale * row.seconds; },
        [&](const MemoryRow& row) { return static_cast<double>(row.*memory.bytes) / unit.bytes; },
        [&](std::size_t group) { return format("steps lc rgb '{}' lw 1.5", group_color(groups, group)); });
    add_budgets(panel, memory, unit, range.high, steps, groups);
    figure.panels.push_back(std::move(panel));
  }
  return figure.panels.empty() ? Picture{} : figure.draw();
}

}  // namespace voxswap::pipeline
