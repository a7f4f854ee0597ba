// Tables with typed rows as CSV: name, meaning, writing and reading of each column. A single list per table
// keeps header, order, writing, reading and reference page consistent.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/csv.h"
#include "base/error.h"
#include "base/text.h"
#include "base/units.h"

namespace voxswap::pipeline {

template <class Row>
struct Column {
  std::string name, meaning;
  std::function<std::string(const Row&)> write;
  // Returns the expected format if the field is invalid, otherwise empty. Null: the table is write-only.
  std::function<std::string(Row&, const std::string&)> read = nullptr;
  // Write the column if this is true for any row; null: always.
  std::function<bool(const Row&)> has = nullptr;
  bool required = true;   // false: the column may be missing in tables of other runs or earlier versions
  std::string when = "";  // appended to the meaning on the reference page
};
template <class Row>
using Columns = std::vector<Column<Row>>;

// The columns of a table: a function columns_of(const Row*) lists them for each type of row.
template <class Row>
const Columns<Row>& columns() {
  static const Columns<Row> list = columns_of(static_cast<const Row*>(nullptr));
  return list;
}

template <class Row>
Csv csv_of(const std::vector<Row>& rows, const Columns<Row>& list) {
  Csv csv;
  csv.rows.resize(rows.size());
  for (const Column<Row>& column : list) {
    if (column.has && std::ranges::none_of(rows, column.has)) continue;
    csv.header.push_back(column.name);
    for (std::size_t i = 0; i < rows.size(); ++i) csv.rows[i].push_back(column.write(rows[i]));
  }
  return csv;
}

template <class Row>
Csv csv_of(const std::vector<Row>& rows) {
  return csv_of(rows, columns<Row>());
}

template <class Row>
std::vector<Row> rows_of(const Csv& csv, const std::string& where, const Columns<Row>& list) {
  std::vector<std::pair<const Column<Row>*, std::size_t>> places;
  for (const Column<Row>& column : list) {
    if (column.required || is_among(column.name, csv.header))
      places.emplace_back(&column, csv.column(column.name, where));
  }
  std::vector<Row> rows(csv.rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (const auto& [column, place] : places) {
      const std::string& field = csv.rows[i][place];
      if (const std::string expected = column->read(rows[i], field); !expected.empty())
        fail(Exit::bad_data, "{}: record {}: column '{}' should be {}, found '{}'", where, i + 1,
             column->name, expected, field);
    }
  return rows;
}

// Throws Exit::bad_data that names `where` for a missing column or an invalid field, such as a Dice of 9.5 or
// epoch 0.
template <class Row>
std::vector<Row> rows_of(const Csv& csv, const std::string& where) {
  return rows_of(csv, where, columns<Row>());
}

// Reads a file; empty if it does not exist.
template <class Row>
std::vector<Row> rows_in(const fs::path& file) {
  if (!fs::exists(file)) return {};
  return rows_of<Row>(read_csv(file), file.string());
}

// For the reference page.
template <class Row>
std::vector<CsvColumn> described(const Columns<Row>& list = columns<Row>()) {
  std::vector<CsvColumn> all;
  for (const Column<Row>& column : list) all.push_back({column.name, column.meaning + column.when});
  return all;
}

// Columns of texts, counts and other numbers.
namespace column {

// Valid range of a number.
struct Bounds {
  double least, most;
  bool or_nan = true;
};
inline constexpr double no_bound = std::numeric_limits<double>::infinity();
inline constexpr Bounds any{-no_bound, no_bound}, not_negative{0, no_bound}, share{0, 1},
    known_share{0, 1, false};

std::string read_real(double& value, const std::string& field, const Bounds& bounds);

template <class Row>
Column<Row> text(const char* name, const char* meaning, std::string Row::*member) {
  return {name, meaning, [=](const Row& row) { return row.*member; },
          [=](Row& row, const std::string& field) {
            row.*member = field;
            return std::string();
          }};
}

template <class Row>
Column<Row> count(const char* name, const char* meaning, std::int64_t Row::*member, std::int64_t least = 0) {
  return {name, meaning, [=](const Row& row) { return std::to_string(row.*member); },
          [=](Row& row, const std::string& field) {
            const auto value = parse_number<std::int64_t>(field);
            if (!value) return std::string("a number");
            row.*member = *value;
            return *value < least ? format("a whole number of at least {}", least) : "";
          }};
}

template <class Row>
Column<Row> real(const char* name, const char* meaning, double Row::*member, Bounds bounds = any) {
  return {name, meaning, [=](const Row& row) { return number(row.*member); },
          [=](Row& row, const std::string& field) { return read_real(row.*member, field, bounds); }};
}

// Clocks resolve microseconds; further digits would be noise. Adding 0 turns -0 into 0.
template <class Row>
Column<Row> seconds(const char* name, const char* meaning, double Row::*member) {
  return {name, meaning, [=](const Row& row) { return number(std::round(row.*member * 1e6) / 1e6 + 0.0); },
          [=](Row& row, const std::string& field) { return read_real(row.*member, field, not_negative); }};
}

// A number in a nested struct, write-only.
template <class Row, class Part, class Value>
Column<Row> part(const char* name, const char* meaning, Part Row::*whole, Value Part::*member) {
  return {name, meaning, [=](const Row& row) {
            if constexpr (std::is_integral_v<Value>)
              return std::to_string(row.*whole.*member);
            else
              return number(row.*whole.*member);
          }};
}

// Columns that many tables share.
template <class Row>
Column<Row> run() {
  return text<Row>("run", "name of the run", &Row::run);
}
template <class Row>
Column<Row> resolution() {
  return text<Row>("resolution", "voxels of a prepared volume: 128 or 48x64x48", &Row::resolution);
}
template <class Row>
Column<Row> grid() {
  return text<Row>("evaluated_at", "grid of the scores: native, training or a side", &Row::evaluated_at);
}
// Columns of a repeat of a run, before those of its rows.
template <class Row>
Columns<Row> of_repeat(const Columns<Row>& rows) {
  Columns<Row> list = {run<Row>(), count<Row>("repeat", "repeat, counted from 1", &Row::repeat, 1),
                       resolution<Row>()};
  list.insert(list.end(), rows.begin(), rows.end());
  return list;
}

}  // namespace column

}  // namespace voxswap::pipeline
