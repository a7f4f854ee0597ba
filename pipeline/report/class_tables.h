// The tables of a classifier's run, as structs and as CSV. Column names are a contract with scripts outside.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/report/columns.h"

namespace voxswap::pipeline {

struct ClassRow {  // classes.csv: what an image was taken for
  std::string run;
  std::int64_t repeat = 1;
  std::string resolution, case_id, truth, predicted;
  // Of every class, by name: columns probability_NAME.
  std::vector<std::pair<std::string, double>> probabilities;
};

struct AccuracyRow {  // accuracy.csv: the part of the validation images that were right after an epoch
  std::string run;
  std::int64_t repeat = 1;
  std::string resolution;
  std::int64_t epoch = 1;
  double trained_seconds = 0;  // of this epoch and those before it
  double accuracy = 0;
};

// With a column per class behind those of columns(), whose last stands for them.
template <>
Csv csv_of<ClassRow>(const std::vector<ClassRow>& rows);
template <>
std::vector<ClassRow> rows_of<ClassRow>(const Csv& csv, const std::string& where);

// How often which class was taken for which: of every run and repeat by itself.
struct Confusion {
  std::string run;
  std::int64_t repeat = 1;
  std::string resolution;
  std::vector<std::string> classes;               // of truth and prediction
  std::vector<std::vector<std::int64_t>> counts;  // [truth][predicted]
  std::int64_t right() const;
  std::int64_t all() const;
  double accuracy() const;  // REQUIRES: there are images
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
