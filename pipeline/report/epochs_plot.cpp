// Training by epoch: losses, Dice, learning rate and seconds. A colour per group of runs, a line per run and
// repeat, and a ring at the epoch whose weights are kept.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "pipeline/report/curves.h"
#include "pipeline/report/palette.h"
#include "pipeline/report/plots.h"

namespace voxswap::pipeline {

namespace {

// Mean over regions with a number (NaN if there are none), in the order of epochs.
std::vector<ValidationRow> means_over_regions(const std::vector<ValidationRow>& rows) {
  std::vector<ValidationRow> means;
  std::vector<std::pair<int, int>> counts;
  const auto add = [](double& mean, int& count, double value) {
    if (!std::isnan(value)) mean = count++ == 0 ? value : mean + (value - mean) / count;
  };
  for (const ValidationRow& row : rows) {
    const auto found = std::find_if(means.begin(), means.end(), [&](const ValidationRow& mean) {
      return is_same_training(mean, row) && mean.epoch == row.epoch;
    });
    const auto place = static_cast<std::size_t>(found - means.begin());
    if (found == means.end()) {
      means.push_back(row);
      counts.emplace_back();
      means.back().dice = means.back().averaged_dice = std::nan("");
    }
    add(means[place].dice, counts[place].first, row.dice);
    add(means[place].averaged_dice, counts[place].second, row.averaged_dice);
  }
  return means;
}

// A kind of curve. `color` is used for a single group: training and validation then have colours that few
// experiments use for regions. With several groups, each group has a colour.
struct Kind {
  const char *name, *dash;
  double width;
  std::size_t color;
};
constexpr Kind training{"training", "'-'", 1.2, 4}, validated{"validation", "1", 1.8, 5},
    averaged{"averaged weights", "'.'", 1.8, 6};
constexpr const char* ring = "points pt 6 ps 1.1 lw 1.6";

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
  const auto style = [&](const Kind& kind, const std::string& color) {
    return format("lc rgb '{}' dt {} lw {}", one ? plot_color(kind.color) : color,
                  one && &kind == &training ? "1" : kind.dash, kind.width);
  };
  Figure figure{.title = "Training curves", .width = std::max(600, width), .legend = group_legend(groups)};
  // Adds points if there are few epochs, since a line through one point is invisible.
  const auto add = [&](Panel& panel, const auto& of, auto epoch, auto value, const Kind& kind) {
    return add_curves(figure, panel, of, groups, epoch, value, [&](std::size_t group) {
      return (few ? "linespoints pt 7 ps 0.4 " : "lines ") + style(kind, group_color(groups, group));
    });
  };
  const auto add_rings = [&](Panel& panel, const auto& of, auto epoch, auto value) {
    add_curves(figure, panel, of, groups, epoch, value, [&](std::size_t group) {
      return format("{} lc rgb '{}'", ring, one ? plot_color(validated.color) : group_color(groups, group));
    });
  };
  using Row = EpochRow;
  const std::vector<EpochRow> best = best_epochs(rows);
  Panel loss{.title = "Loss", .height = 210};
  Range losses = add(loss, rows, &Row::epoch, &Row::train_loss, training);
  losses.include(add(loss, rows, &Row::epoch, &Row::validation_loss, validated));
  const Range average = add(loss, rows, &Row::epoch, &Row::averaged_validation_loss, averaged);
  losses.include(average);
  add_rings(loss, best, &Row::epoch, &Row::validation_loss);
  loss.y = number_axis(losses.padded(), 7);

  using Mean = ValidationRow;
  std::vector<Mean> means = means_over_regions(validation);
  Panel dice{
      .title = "Mean validation Dice, training grid", .y = number_axis({0, 1}, 5, "Dice"), .height = 130};
  add(dice, means, &Mean::epoch, &Mean::dice, validated);
  add(dice, means, &Mean::epoch, &Mean::averaged_dice, averaged);
  std::erase_if(means, [&](const Mean& mean) {
    return std::none_of(best.begin(), best.end(), [&](const EpochRow& row) {
      return is_same_training(mean, row) && mean.epoch == row.epoch;
    });
  });
  add_rings(dice, means, &Mean::epoch, &Mean::dice);

  Panel rate{.title = "Learning rate", .height = 100}, time{.title = "Seconds per epoch", .height = 100};
  rate.y = axis_from_zero(add(rate, rows, &Row::epoch, &Row::learning_rate, validated).high, 4);
  time.y = axis_from_zero(add(time, rows, &Row::epoch, &Row::seconds, validated).high, 4);
  figure.panels = {loss, dice, rate, time};
  std::erase_if(figure.panels, [](const Panel& panel) { return panel.elements.empty(); });

  set_axes(figure.panels, epochs);
  for (const Kind* kind : {&training, &validated, &averaged})
    if (kind != &averaged || !average.empty())
      figure.legend.push_back({kind->name, "lines " + style(*kind, plot_ink)});
  figure.legend.push_back({"best epoch", format("{} lc rgb '{}'", ring, plot_ink)});
  return figure.draw();
}

}  // namespace voxswap::pipeline
