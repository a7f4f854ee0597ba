// Dice against the time of an epoch and against device memory: a dot per group of runs, and the Pareto front,
// the groups that no other one beats in both.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "pipeline/report/figure.h"
#include "pipeline/report/finding.h"
#include "pipeline/report/group_colors.h"
#include "pipeline/report/palette.h"
#include "pipeline/report/plots.h"

namespace voxswap::pipeline {

namespace {

struct GroupDot {
  double cost = 0, dice = 0;
  std::size_t group = 0;
};

std::vector<GroupDot> dots_of(const Ranking& ranking, const std::vector<TimingRow>& timing,
                              const std::vector<RunGroup>& groups,
                              const std::function<double(const TimingRow&)>& cost) {
  std::vector<GroupDot> dots;
  for (const RankedGroup& ranked : ranking.groups) {
    if (ranked.group >= groups.size()) continue;  // an ensemble
    const double mean = mean_timing(timing, groups, ranked.group, cost);
    if (mean > 0) dots.push_back({mean, ranked.dice, ranked.group});
  }
  return dots;
}

std::string front_of(std::vector<GroupDot> dots) {
  std::sort(dots.begin(), dots.end(), [](const GroupDot& a, const GroupDot& b) {
    return a.cost < b.cost || (a.cost == b.cost && a.dice > b.dice);
  });
  std::string lines;
  double best = -1;
  for (const GroupDot& dot : dots)
    if (dot.dice > best) {
      lines += format("{} {}\n", dot.cost, dot.dice);
      best = dot.dice;
    }
  return lines;
}

std::string dot_style(const std::vector<RunGroup>& groups, std::size_t group) {
  return format("points pt 7 ps 1.6*point lc rgb '{}'", group_color(groups, group));
}

Panel cost_panel(Figure& figure, const std::vector<GroupDot>& dots, const std::vector<RunGroup>& groups,
                 const std::string& x_title) {
  Panel panel{.height = 220};
  Range dice;
  double highest = 0;
  for (const GroupDot& dot : dots) {
    dice.include(dot.dice);
    highest = std::max(highest, dot.cost);
  }
  panel.elements.push_back(
      element(figure.add_data(front_of(dots)), "1:2", format("lines dt '-' lw 1.4 lc rgb '{}'", plot_ink)));
  for (const GroupDot& dot : dots)
    panel.elements.push_back(
        element(figure.add_data(format("{} {}\n", dot.cost, dot.dice)), "1:2", dot_style(groups, dot.group)));
  panel.x = axis_from_zero(highest, 4);
  panel.x.title = x_title;
  panel.y = number_axis(dice.padded(), 6, "mean Dice");
  return panel;
}

}  // namespace

Picture pareto_plot(const Ranking& ranking, const std::vector<TimingRow>& timing,
                    const std::vector<RunGroup>& groups, int width) {
  std::vector<GroupDot> time =
      dots_of(ranking, timing, groups, [](const TimingRow& row) { return row.epoch_seconds_mean; });
  std::vector<GroupDot> memory = dots_of(ranking, timing, groups, [](const TimingRow& row) {
    return static_cast<double>(row.device_peak_bytes);
  });
  if (time.size() < 2) return {};
  const auto most = [](const std::vector<GroupDot>& dots) {
    return std::max_element(dots.begin(), dots.end(),
                            [](const GroupDot& a, const GroupDot& b) { return a.cost < b.cost; })
        ->cost;
  };
  const auto scale = [](std::vector<GroupDot>& dots, double unit) {
    for (GroupDot& dot : dots) dot.cost /= unit;
  };
  const bool minutes = most(time) > 180, has_memory = memory.size() > 1;
  const bool gib = has_memory && most(memory) > (1 << 30);
  scale(time, minutes ? 60 : 1);
  scale(memory, gib ? 1 << 30 : 1 << 20);
  Figure figure{.title = "Dice against time and memory",
                .left_margin = 84,
                .note = "dashed: Pareto front (no group has a higher Dice at lower cost)"};
  figure.columns = has_memory ? 2 : 1;
  figure.width = width > 0 ? width : has_memory ? 690 : 420;
  for (std::size_t i = 0; i < groups.size(); ++i)
    if (std::any_of(time.begin(), time.end(), [&](const GroupDot& dot) { return dot.group == i; }))
      figure.legend.push_back({groups[i].name, dot_style(groups, i)});
  figure.panels.push_back(cost_panel(figure, time, groups, minutes ? "epoch, min" : "epoch, s"));
  if (has_memory) {
    figure.panels.push_back(
        cost_panel(figure, memory, groups, gib ? "device memory, GiB" : "device memory, MiB"));
    figure.panels.back().y.title.clear();
  }
  return figure.draw();
}

}  // namespace voxswap::pipeline
