#include "pipeline/train/training_tables.h"

#include "base/error.h"
#include "base/file.h"
#include "pipeline/report/written_files.h"

namespace voxswap::pipeline {

namespace {

template <class Row>
std::vector<Row> resumed(const fs::path& file, std::int64_t repeat, std::int64_t epoch) {
  std::vector<Row> rows;
  std::int64_t reached = 0;
  for (Row& row : rows_of<Row>(read_csv(file), file.string())) {
    if (row.repeat != repeat || row.epoch >= epoch) continue;
    if (row.epoch != reached && row.epoch != reached + 1) break;
    reached = row.epoch;
    rows.push_back(std::move(row));
  }
  if (reached != epoch - 1)
    fail(Exit::bad_data,
         "{}: lacks epoch {} of repeat {}, which the checkpoint includes. Restore the file as the run wrote "
         "it",
         file.string(), reached + 1, repeat);
  return rows;
}

template <class Row>
void append(std::vector<Row>& rows, const std::vector<Row>& more) {
  rows.insert(rows.end(), more.begin(), more.end());
}

}  // namespace

void TrainingTables::append(const TrainingTables& more) {
  pipeline::append(epochs, more.epochs);
  pipeline::append(validation, more.validation);
  pipeline::append(accuracy, more.accuracy);
}

void TrainingTables::add(const EpochRow& row, const Validation& found,
                         const std::optional<Validation>& averaged) {
  epochs.push_back(row);
  double seconds = 0;
  for (const EpochRow& one : epochs) seconds += one.seconds;
  const auto scores = found.scores(), of_average = averaged ? averaged->scores() : scores;
  if (found.of_classes()) {
    accuracy.push_back({row.run, row.repeat, row.resolution, row.epoch, seconds, found.accuracy()});
    return;
  }
  for (std::size_t i = 0; i < scores.size(); ++i) {
    validation.push_back(
        {row.run, row.repeat, row.resolution, row.epoch, seconds, scores[i].first, scores[i].second});
    if (averaged) validation.back().averaged_dice = of_average[i].second;
  }
}

void write_tables(const fs::path& folder, bool classes, const TrainingTables& tables) {
  write_noted(folder, {{"epochs.csv", csv_text(csv_of(tables.epochs))},
                       {"validation.csv", csv_text(csv_of(tables.validation))}});
  if (classes) write_noted(folder, {{"accuracy.csv", csv_text(csv_of(tables.accuracy))}});
}

TrainingTables resumed_tables(const fs::path& folder, bool classes, std::int64_t repeat, std::int64_t epoch) {
  TrainingTables tables;
  if (epoch == 1) return tables;
  tables.epochs = resumed<EpochRow>(folder / "epochs.csv", repeat, epoch);
  if (classes)
    tables.accuracy = resumed<AccuracyRow>(folder / "accuracy.csv", repeat, epoch);
  else
    tables.validation = resumed<ValidationRow>(folder / "validation.csv", repeat, epoch);
  return tables;
}

}  // namespace voxswap::pipeline
