// The tables of a classification run, as structs and as CSV. Column names are part of the public interface.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/report/columns.h"

namespace voxswap::pipeline {

struct ClassRow {  // classes.csv: predicted class of an image
  std::string run;
  std::int64_t repeat = 1;
  std::string resolution, case_id, truth, predicted;
  // Of every class, in columns probability_NAME.
  std::vector<std::pair<std::string, double>> probabilities;
};

struct AccuracyRow {  // accuracy.csv: validation accuracy after an epoch
  std::string run;
  std::int64_t repeat = 1;
  std::string resolution;
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
struct Confusion {
  std::string run;
  std::int64_t repeat = 1;
  std::string resolution;
  std::vector<std::string> classes;               // of ground truth and prediction
  std::vector<std::vector<std::int64_t>> counts;  // [truth][predicted]
  std::int64_t right() const;
  std::int64_t all() const;
  double accuracy() const;  // REQUIRES: all() > 0
};
std::vector<Confusion> confusions(const std::vector<ClassRow>& rows);

struct ConfusionRow {  // confusion.csv
  std::string run;
  std::int64_t repeat = 1;
  std::string resolution, truth, predicted;
  std::int64_t images = 0;
};
std::vector<ConfusionRow> confusion_rows(const std::vector<Confusion>& confusions);

template <>
const Columns<ClassRow>& columns<ClassRow>();
template <>
const Columns<AccuracyRow>& columns<AccuracyRow>();
template <>
const Columns<ConfusionRow>& columns<ConfusionRow>();

}  // namespace voxswap::pipeline
