#include "pipeline/report/calibration_table.h"

#include "base/error.h"
#include "base/parse_number.h"

namespace voxswap::pipeline {

const std::vector<CsvColumn>& calibration_columns() {
  static const std::vector<CsvColumn> columns = {
      {"run", "name of the run"},
      {"repeat", "repeat, counted from 1"},
      {"resolution", "voxels of a prepared volume: 128 or 48x64x48"},
      {"case", "name of the case"},
      {"output", "output: a label or region"},
      {"voxels", "voxels of the training grid that count"},
      {"ece", "expected calibration error over 15 bins of equal width"},
      {"mce", "maximum calibration error of these bins"},
      {"brier", "Brier score: mean squared error of the probabilities"},
      {"log_loss", "mean negative log likelihood"}};
  return columns;
}

namespace {

template <class Number>
Number number_in(const std::string& field, const std::string& column, const std::string& where) {
  const auto value = parse_number<Number>(field);
  if (!value || *value < 0)
    fail(Exit::bad_data, "{}: {}: expected a number of at least 0, found '{}'", where, column, field);
  return *value;
}

}  // namespace

void set_scores(CalibrationRow& row, const metrics::Calibration& found) {
  row.voxels = found.voxels();
  row.expected_error = found.expected_error();
  row.maximum_error = found.maximum_error();
  row.brier = found.brier();
  row.log_loss = found.log_loss();
}

Csv calibration_csv(const std::vector<CalibrationRow>& rows) {
  Csv csv{header_of(calibration_columns()), {}};
  for (const CalibrationRow& row : rows)
    csv.rows.push_back({row.run, std::to_string(row.repeat), row.resolution, row.case_id, row.output,
                        std::to_string(row.voxels), number(row.expected_error), number(row.maximum_error),
                        number(row.brier), number(row.log_loss)});
  return csv;
}

std::vector<CalibrationRow> calibration_rows(const Csv& csv, const std::string& where) {
  std::vector<std::size_t> at;
  const std::vector<CsvColumn>& columns = calibration_columns();
  for (const CsvColumn& column : columns) at.push_back(csv.column(column.name, where));
  std::vector<CalibrationRow> rows;
  for (const auto& fields : csv.rows) {
    const auto whole = [&](std::size_t c) {
      return number_in<std::int64_t>(fields[at[c]], columns[c].name, where);
    };
    const auto real = [&](std::size_t c) { return number_in<double>(fields[at[c]], columns[c].name, where); };
    rows.push_back({fields[at[0]], whole(1), fields[at[2]], fields[at[3]], fields[at[4]], whole(5), real(6),
                    real(7), real(8), real(9)});
  }
  return rows;
}

}  // namespace voxswap::pipeline
