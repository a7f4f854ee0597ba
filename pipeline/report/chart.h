// A chart of a table: one column plotted over another, with a line per combination of further columns.
#pragma once

#include <string>
#include <vector>

#include "base/csv.h"
#include "pipeline/report/figure.h"

namespace voxswap::pipeline {

struct ChartColumns {
  std::string x, y;
  std::vector<std::string> by;  // one line per combination of their values
};

// Adds a panel to the figure and its lines to the legend, which all charts of a figure share. Draws bars if a
// value of x is not a number. Skips rows without a number in y; returns false if none remain.
bool add_chart(Figure& figure, const Csv& table, const ChartColumns& columns, const Panel& panel,
               const std::string& x_title);

}  // namespace voxswap::pipeline
