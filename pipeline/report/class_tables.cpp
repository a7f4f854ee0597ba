#include "pipeline/report/class_tables.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/units.h"

namespace voxswap::pipeline {

namespace {

constexpr std::string_view probability_prefix = "probability_";

// The fields of a table by name, each checked to be what it should.
class Reader {
 public:
  Reader(const Csv& csv, const std::string& where) : csv_(csv), where_(where) {}

  const std::string& text(std::size_t row, const std::string& column) const {
    return csv_.rows[row][csv_.column(column, where_)];
  }
  template <class Number>
  Number number(std::size_t row, const std::string& column, Number least, Number most) const {
    const std::string& field = text(row, column);
    const auto value = parse_number<Number>(field);
    if (!value || !(*value >= least && *value <= most))
      fail(Exit::bad_data, "{}: record {}: column '{}' should be a number of {} to {}, found '{}'", where_,
           row + 1, column, least, most, field);
    return *value;
  }

 private:
  const Csv& csv_;
  const std::string& where_;
};

constexpr std::int64_t most_repeats = 1000000, most_epochs = 1000000000;

}  // namespace

const std::vector<CsvColumn>& class_columns() {
  static const std::vector<CsvColumn> columns = {
      {"run", "name of the run"},
      {"repeat", "repeat, counted from 1"},
      {"resolution", "voxels of a prepared volume: 128 or 48x64x48"},
      {"case", "name of the image"},
      {"truth", "true class"},
      {"predicted", "class with the highest probability"},
      {std::string(probability_prefix) + "NAME", "probability of the class NAME, a column per class"}};
  return columns;
}

const std::vector<CsvColumn>& accuracy_columns() {
  static const std::vector<CsvColumn> columns = {
      {"run", "name of the run"},
      {"repeat", "repeat, counted from 1"},
      {"resolution", "voxels of a prepared volume: 128 or 48x64x48"},
      {"epoch", "epoch, counted from 1"},
      {"trained_seconds", "duration of the epochs so far, in s"},
      {"accuracy", "fraction of the validation images with the right class"}};
  return columns;
}

const std::vector<CsvColumn>& confusion_columns() {
  static const std::vector<CsvColumn> columns = {
      {"run", "name of the run"},
      {"repeat", "repeat, counted from 1"},
      {"resolution", "voxels of a prepared volume: 128 or 48x64x48"},
      {"truth", "true class"},
      {"predicted", "predicted class"},
      {"images", "number of validation images"}};
  return columns;
}

Csv classes_csv(const std::vector<ClassRow>& rows) {
  Csv csv{header_of(class_columns()), {}};
  csv.header.pop_back();
  for (std::size_t c = 0; !rows.empty() && c < rows.front().probabilities.size(); ++c)
    csv.header.push_back(std::string(probability_prefix) + rows.front().probabilities[c].first);
  for (const ClassRow& row : rows) {
    csv.rows.push_back(
        {row.run, std::to_string(row.repeat), row.resolution, row.case_id, row.truth, row.predicted});
    for (const auto& [name, value] : row.probabilities) csv.rows.back().push_back(number(value));
  }
  return csv;
}

std::vector<ClassRow> class_rows(const Csv& csv, const std::string& where) {
  const Reader read(csv, where);
  std::vector<ClassRow> rows;
  for (std::size_t i = 0; i < csv.rows.size(); ++i) {
    ClassRow row;
    row.run = read.text(i, "run");
    row.repeat = read.number<std::int64_t>(i, "repeat", 1, most_repeats);
    row.resolution = read.text(i, "resolution");
    row.case_id = read.text(i, "case");
    row.truth = read.text(i, "truth");
    row.predicted = read.text(i, "predicted");
    for (const std::string& name : csv.header)
      if (name.starts_with(probability_prefix))
        row.probabilities.emplace_back(name.substr(probability_prefix.size()),
                                       read.number<double>(i, name, 0, 1.001));
    rows.push_back(std::move(row));
  }
  return rows;
}

Csv accuracy_csv(const std::vector<AccuracyRow>& rows) {
  Csv csv{header_of(accuracy_columns()), {}};
  for (const AccuracyRow& row : rows)
    csv.rows.push_back({row.run, std::to_string(row.repeat), row.resolution, std::to_string(row.epoch),
                        format("{:.6f}", row.trained_seconds), number(row.accuracy)});
  return csv;
}

std::vector<AccuracyRow> accuracy_rows(const Csv& csv, const std::string& where) {
  const Reader read(csv, where);
  std::vector<AccuracyRow> rows;
  for (std::size_t i = 0; i < csv.rows.size(); ++i)
    rows.push_back({read.text(i, "run"), read.number<std::int64_t>(i, "repeat", 1, most_repeats),
                    read.text(i, "resolution"), read.number<std::int64_t>(i, "epoch", 1, most_epochs),
                    read.number<double>(i, "trained_seconds", 0, 1e12),
                    read.number<double>(i, "accuracy", 0, 1)});
  return rows;
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

Csv confusion_csv(const std::vector<Confusion>& confusions) {
  Csv csv{header_of(confusion_columns()), {}};
  for (const Confusion& one : confusions)
    for (std::size_t t = 0; t < one.classes.size(); ++t)
      for (std::size_t p = 0; p < one.classes.size(); ++p)
        csv.rows.push_back({one.run, std::to_string(one.repeat), one.resolution, one.classes[t],
                            one.classes[p], std::to_string(one.counts[t][p])});
  return csv;
}

}  // namespace voxswap::pipeline
