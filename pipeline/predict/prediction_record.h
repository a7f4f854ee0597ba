// OUT/prediction.json: the run and options of the label maps, and the files of each case. A later prediction
// of the same cases removes files that it does not write again.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/filesystem.h"
#include "pipeline/cases/options.h"
#include "pipeline/predict/predictor.h"

namespace voxswap::pipeline {

class PredictionRecord {
 public:
  // Of each case that lacks files of channels, which.
  using Missing = std::map<std::string, std::vector<std::string>>;

  // Reads what lies in `folder`; throws Exit::bad_data for a prediction.json that is none.
  PredictionRecord(fs::path folder, const std::vector<RunOptions>& runs, const fs::path& input,
                   const PredictOptions& how, const Missing& missing);
  ~PredictionRecord();  // finishes, so that a prediction that was cut off is on record as far as it came
  PredictionRecord(const PredictionRecord&) = delete;
  PredictionRecord& operator=(const PredictionRecord&) = delete;

  // A file of `id` that now lies in the folder.
  void wrote(const std::string& id, const fs::path& file);
  // Takes away what former predictions of the cases that were written have left, and writes the record.
  void finish();

 private:
  struct Prediction {
    std::string made_with;                               // JSON, without the cases
    std::map<std::string, std::set<std::string>> files;  // of each case, relative to the folder
  };

  void read();
  void write() const;

  fs::path folder_;
  std::vector<Prediction> former_;
  Prediction now_;
  bool finished_ = false;
};

}  // namespace voxswap::pipeline
