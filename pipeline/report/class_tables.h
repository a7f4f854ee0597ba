// The tables of a classifier's run, as structs and as CSV. Column names are a contract with scripts outside.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/csv.h"

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

// The last of the first stands for a column per class.
const std::vector<CsvColumn>& class_columns();
const std::vector<CsvColumn>& accuracy_columns();
const std::vector<CsvColumn>& confusion_columns();

Csv classes_csv(const std::vector<ClassRow>& rows);
Csv accuracy_csv(const std::vector<AccuracyRow>& rows);

// The way back; throws Exit::bad_data naming `where` for what no run writes there.
std::vector<ClassRow> class_rows(const Csv& csv, const std::string& where);
std::vector<AccuracyRow> accuracy_rows(const Csv& csv, const std::string& where);

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
// confusion.csv: run,repeat,resolution,truth,predicted,images
Csv confusion_csv(const std::vector<Confusion>& confusions);

}  // namespace voxswap::pipeline
