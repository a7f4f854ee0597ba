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

template <>
const Columns<ClassRow>& columns<ClassRow>() {
  using Row = ClassRow;
  static const Columns<Row> list = {
      run<Row>(),
      repeat<Row>(),
      resolution<Row>(),
      text("case", "name of the image", &Row::case_id),
      text("truth", "true class", &Row::truth),
      text("predicted", "class with the highest probability", &Row::predicted),
      probability("NAME", 0, "probability of the class NAME, a column per class")};
  return list;
}

template <>
const Columns<AccuracyRow>& columns<AccuracyRow>() {
  using Row = AccuracyRow;
  static const Columns<Row> list = [] {
    Columns<Row> all = {
        run<Row>(),
        repeat<Row>(),
        resolution<Row>(),
        count("epoch", "epoch, counted from 1", &Row::epoch, 1),
        seconds("trained_seconds", "duration of the epochs so far, in s", &Row::trained_seconds),
        real("accuracy", "fraction of the validation images with the correct class", &Row::accuracy,
             known_share)};
    all[4].write = [](const Row& row) { return format("{:.6f}", row.trained_seconds); };
    return all;
  }();
  return list;
}

template <>
const Columns<ConfusionRow>& columns<ConfusionRow>() {
  using Row = ConfusionRow;
  static const Columns<Row> list = {run<Row>(),
                                    repeat<Row>(),
                                    resolution<Row>(),
                                    text("truth", "true class", &Row::truth),
                                    text("predicted", "predicted class", &Row::predicted),
                                    count("images", "number of validation images", &Row::images)};
  return list;
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
    auto found = std::find_if(all.begin(), all.end(), [&](const Confusion& one) {
      return one.run == row.run && one.repeat == row.repeat && one.resolution == row.resolution;
    });
    if (found == all.end()) {
      Confusion fresh{row.run, row.repeat, row.resolution, {}, {}};
      for (const auto& [name, value] : row.probabilities) fresh.classes.push_back(name);
      fresh.counts.assign(fresh.classes.size(), std::vector<std::int64_t>(fresh.classes.size()));
      found = all.insert(all.end(), std::move(fresh));
    }
    const auto place = [&](const std::string& name) {
      const auto at = std::find(found->classes.begin(), found->classes.end(), name);
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
        rows.push_back(
            {one.run, one.repeat, one.resolution, one.classes[t], one.classes[p], one.counts[t][p]});
  return rows;
}

}  // namespace voxswap::pipeline
