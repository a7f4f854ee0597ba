// A chart of a table: a column over another one, with a line per value of further columns.
#pragma once

#include <string>
#include <vector>

#include "base/csv.h"
#include "pipeline/report/figure.h"

namespace voxswap::pipeline {

struct ChartColumns {
  std::string x, y;
  std::vector<std::string> by;  // whose values together tell one line from another
};

// Adds a panel to the figure, and what its lines are to the legend, which all charts of a figure share. Bars
// where a value of x is no number. Rows without a number in y are left out; false: there is no other.
bool add_chart(Figure& figure, const Csv& table, const ChartColumns& columns, const Panel& panel,
               const std::string& x_title);

}  // namespace voxswap::pipeline
