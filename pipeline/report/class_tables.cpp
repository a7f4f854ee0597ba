#include "pipeline/report/class_tables.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/text.h"

namespace voxswap::pipeline {

using namespace column;

namespace {

const std::string probability_prefix = "probability_";

// The row's class with index `place`. Rounding may make a probability slightly greater than 1.
Column<ClassRow> probability(const std::string& name, std::size_t place, const std::string& meaning = "") {
  return {probability_prefix + name, meaning,
          [=](const ClassRow& row) { return number(row.probabilities.at(place).second); },
          [=](ClassRow& row, const std::string& field) {
            row.probabilities.emplace_back(name, 0);
            return read_real(row.probabilities.back().second, field, {0, 1.001, false});
          }};
}

Columns<ClassRow> with_classes(const std::vector<std::string>& names) {
  Columns<ClassRow> list = columns<ClassRow>();
  list.pop_back();
  for (const std::string& name : names) list.push_back(probability(name, list.size() - 6));
  return list;
}

}  // namespace

Columns<ClassRow> columns_of(const ClassRow*) {
  using Row = ClassRow;
  return of_repeat<Row>({text("case", "name of the image", &Row::case_id),
                         text("truth", "true class", &Row::truth),
                         text("predicted", "class with the highest probability", &Row::predicted),
                         probability("NAME", 0, "probability of the class NAME, a column per class")});
}

Columns<AccuracyRow> columns_of(const AccuracyRow*) {
  using Row = AccuracyRow;
  Column<Row> time = seconds("trained_seconds", "duration of the epochs so far, in s", &Row::trained_seconds);
  time.write = [](const Row& row) { return format("{:.6f}", row.trained_seconds); };
  return of_repeat<Row>({count("epoch", "epoch, counted from 1", &Row::epoch, 1), time,
                         real("accuracy", "fraction of the validation images with the correct class",
                              &Row::accuracy, known_share)});
}

Columns<ConfusionRow> columns_of(const ConfusionRow*) {
  using Row = ConfusionRow;
  return of_repeat<Row>({text("truth", "true class", &Row::truth),
                         text("predicted", "predicted class", &Row::predicted),
                         count("images", "number of validation images", &Row::images)});
}

template <>
Csv csv_of<ClassRow>(const std::vector<ClassRow>& rows) {
  std::vector<std::string> names;
  if (!rows.empty())
    for (const auto& [name, value] : rows.front().probabilities) names.push_back(name);
  return csv_of(rows, with_classes(names));
}

template <>
std::vector<ClassRow> rows_of<ClassRow>(const Csv& csv, const std::string& where) {
  std::vector<std::string> names;
  for (const std::string& name : csv.header)
    if (name.starts_with(probability_prefix)) names.push_back(name.substr(probability_prefix.size()));
  return rows_of(csv, where, with_classes(names));
}

std::int64_t Confusion::right() const {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < classes.size(); ++i) sum += counts[i][i];
  return sum;
}

std::int64_t Confusion::all() const {
  std::int64_t sum = 0;
  for (const auto& row : counts) sum = std::accumulate(row.begin(), row.end(), sum);
  return sum;
}

double Confusion::accuracy() const {
  return static_cast<double>(right()) / static_cast<double>(all());
}

std::vector<Confusion> confusions(const std::vector<ClassRow>& rows) {
  std::vector<Confusion> all;
  for (const ClassRow& row : rows) {
    auto found = std::ranges::find_if(all, [&](const Confusion& one) { return is_same_training(one, row); });
    if (found == all.end()) {
      found = all.insert(found, {row, {}, {}});
      for (const auto& [name, value] : row.probabilities) found->classes.push_back(name);
      const std::size_t count = found->classes.size();
      found->counts.assign(count, std::vector<std::int64_t>(count));
    }
    const auto place = [&](const std::string& name) {
      const auto at = std::ranges::find(found->classes, name);
      if (at == found->classes.end())
        fail(Exit::bad_data, "{}: case {}: '{}' is not one of the classes {}", row.run, row.case_id, name,
             join(found->classes, ", "));
      return static_cast<std::size_t>(at - found->classes.begin());
    };
    ++found->counts[place(row.truth)][place(row.predicted)];
  }
  return all;
}

std::vector<ConfusionRow> confusion_rows(const std::vector<Confusion>& confusions) {
  std::vector<ConfusionRow> rows;
  for (const Confusion& one : confusions)
    for (std::size_t t = 0; t < one.classes.size(); ++t)
      for (std::size_t p = 0; p < one.classes.size(); ++p)
        rows.push_back({one, one.classes[t], one.classes[p], one.counts[t][p]});
  return rows;
}

}  // namespace voxswap::pipeline
