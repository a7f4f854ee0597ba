#include "pipeline/train/training_tables.h"

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "pipeline/cases/patches.h"
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
void replace(std::vector<Row>& rows, std::int64_t repeat, const std::vector<Row>& more) {
  std::erase_if(rows, [&](const Row& row) { return row.repeat == repeat; });
  const auto next =
      std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.repeat > repeat; });
  rows.insert(next, more.begin(), more.end());
}

}  // namespace

void TrainingTables::replace(std::int64_t repeat, const TrainingTables& rows) {
  pipeline::replace(epochs, repeat, rows.epochs);
  pipeline::replace(validation, repeat, rows.validation);
  pipeline::replace(accuracy, repeat, rows.accuracy);
}

void TrainingTables::add(const EpochRow& row, const Validation& found,
                         const std::optional<Validation>& averaged) {
  epochs.push_back(row);
  double seconds = earlier_seconds;
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

double growth_seconds(const fs::path& run, std::int64_t repeat) {
  double seconds = 0;
  for (fs::path stage = growth_folder(run); fs::exists(stage); stage = growth_folder(stage))
    for (const EpochRow& row : rows_in<EpochRow>(stage / "epochs.csv"))
      if (row.repeat == repeat) seconds += row.seconds;
  return seconds;
}

EpochRow epoch_row(const Experiment& experiment, std::int64_t repeat, const Position& position,
                   std::int64_t steps, const DeviceUse& use) {
  EpochRow row;
  row.run = experiment.name;
  row.repeat = repeat;
  row.resolution = resolution_text(experiment.preprocess.resolution);
  row.epoch = position.epoch;
  row.seconds = position.train_seconds + use.validation;
  row.train_loss = position.loss_sum / static_cast<double>(steps);
  const Size3 side = input_size(experiment);
  row.megavoxels_per_second = static_cast<double>(voxels_in(side) * steps * experiment.training.batch_size) /
                              1e6 / std::max(position.train_seconds, 1e-9);
  row.wait_seconds = position.wait_seconds;
  row.stall_seconds = position.stall_seconds;
  row.validation_seconds = use.validation;
  row.device_busy = std::min(use.busy(), 1.0);
  row.swapped_out_bytes = position.moved.out_bytes;
  row.swapped_in_bytes = position.moved.in_bytes;
  row.recomputed_nodes = position.moved.recomputed_nodes;
  return row;
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

TrainingTables recorded_tables(const fs::path& folder, bool classes) {
  TrainingTables tables{
      rows_in<EpochRow>(folder / "epochs.csv"), rows_in<ValidationRow>(folder / "validation.csv"), {}};
  if (classes) tables.accuracy = rows_in<AccuracyRow>(folder / "accuracy.csv");
  return tables;
}

}  // namespace voxswap::pipeline
