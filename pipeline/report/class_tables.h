// The tables of a classification run, as structs and as CSV. Column names are part of the public interface.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

struct ClassRow : RepeatOfRun {  // classes.csv: predicted class of an image
  std::string case_id, truth, predicted;
  // Of every class, in columns probability_NAME.
  std::vector<std::pair<std::string, double>> probabilities;
};

struct AccuracyRow : RepeatOfRun {  // accuracy.csv: validation accuracy after an epoch
  std::int64_t epoch = 1;
  double trained_seconds = 0;  // up to and including this epoch
  double accuracy = 0;
};

// Replaces the placeholder, the last entry of columns(), by a column per class.
template <>
Csv csv_of<ClassRow>(const std::vector<ClassRow>& rows);
template <>
std::vector<ClassRow> rows_of<ClassRow>(const Csv& csv, const std::string& where);

// Confusion matrix of a run and repeat.
struct Confusion : RepeatOfRun {
  std::vector<std::string> classes;               // of ground truth and prediction
  std::vector<std::vector<std::int64_t>> counts;  // [truth][predicted]
  std::int64_t right() const;
  std::int64_t all() const;
  double accuracy() const;  // REQUIRES: all() > 0
};
std::vector<Confusion> confusions(const std::vector<ClassRow>& rows);

struct ConfusionRow : RepeatOfRun {  // confusion.csv
  std::string truth, predicted;
  std::int64_t images = 0;
};
std::vector<ConfusionRow> confusion_rows(const std::vector<Confusion>& confusions);

Columns<ClassRow> columns_of(const ClassRow*);
Columns<AccuracyRow> columns_of(const AccuracyRow*);
Columns<ConfusionRow> columns_of(const ConfusionRow*);

}  // namespace voxswap::pipeline
