// Training curves: a line per run and repeat, in a colour per group of runs.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/text.h"
#include "pipeline/report/figure.h"
#include "pipeline/report/group_colors.h"
#include "pipeline/report/run_groups.h"

namespace voxswap::pipeline {

// True for rows of the same run and repeat.
template <class A, class B>
bool is_same_training(const A& a, const B& b) {
  if constexpr (requires { a.repeat; })
    if (a.repeat != b.repeat) return false;
  return a.run == b.run && a.resolution == b.resolution;
}

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
    auto found = std::find_if(curves.begin(), curves.end(),
                              [&](const Curve& curve) { return is_same_training(*curve.first, row); });
    if (found == curves.end()) found = curves.insert(found, {&row});
    const auto value = static_cast<double>(std::invoke(y, row));
    found->lines += format("{} {}\n", std::invoke(x, row), value);
    found->values.include(value);
  }
  Range all;
  for (const Curve& curve : curves) {
    all.include(curve.values);
    if (!curve.values.empty())
      panel.elements.push_back(element(figure.add_data(curve.lines), "1:2",
                                       style(group_of(groups, curve.first->run, curve.first->resolution))));
  }
  return all;
}

// One line per group, if there are several.
inline std::vector<LegendEntry> group_legend(const std::vector<RunGroup>& groups) {
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; groups.size() > 1 && i < groups.size(); ++i)
    entries.push_back({groups[i].name, format("lines lc rgb '{}' lw 1.8", group_color(groups, i))});
  return entries;
}

}  // namespace voxswap::pipeline
