// The columns of the tables that a run writes: name and meaning of each, and how it is written and read.
// One list per table, so that header, order, writing, reading and the reference page cannot drift apart.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/csv.h"
#include "metrics/metrics.h"
#include "pipeline/report/table_rows.h"

namespace voxswap::pipeline {

template <class Row>
struct Column {
  std::string name, meaning;
  std::function<std::string(const Row&)> write;
  std::function<std::string(Row&, const std::string&)> read;  // what the field should be; empty: it is that
};

const std::vector<Column<EpochRow>>& epoch_columns();
const std::vector<Column<ValidationRow>>& validation_columns();
const std::vector<Column<DiceRow>>& dice_columns();
const std::vector<Column<TimingRow>>& timing_columns();
const std::vector<Column<MemoryRow>>& memory_columns();
const std::vector<Column<PhaseRow>>& phase_columns();

// Columns to the right of these, in tables whose rows have such a value.
const Column<EpochRow>& averaged_loss_column();
const Column<ValidationRow>& averaged_dice_column();
Column<DiceRow> further_column(const metrics::Metric& metric);

// Of boxplot.csv; the last only where groups of runs differ in a setting.
const std::vector<CsvColumn>& boxplot_columns();

template <class Row>
std::vector<CsvColumn> described(const std::vector<Column<Row>>& columns) {
  std::vector<CsvColumn> list;
  for (const Column<Row>& column : columns) list.push_back({column.name, column.meaning});
  return list;
}

}  // namespace voxswap::pipeline
