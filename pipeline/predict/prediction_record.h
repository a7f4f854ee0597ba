// OUT/prediction.json: the run and options of the label maps, and the files of each case. A later prediction
// of the same cases removes files that it does not write again.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "data/formats/segmentation_writing.h"
#include "data/layouts/dataset.h"
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

// File names of predictions, named after cases or as a BIDS derivative.
class PredictionFiles {
 public:
  // REQUIRES: `dataset` and `how` outlive it
  PredictionFiles(fs::path folder, const data::Dataset& dataset, const PredictOptions& how);

  const fs::path& folder() const { return folder_; }
  // Of images that get one class there is a table of all in the places of label maps.
  fs::path label_map(const std::string& id) const;
  fs::path probability(const std::string& id, const std::string& output) const;
  fs::path segmentation(const std::string& id) const;        // .seg.nrrd
  fs::path dicom_segmentation(const std::string& id) const;  // .seg.dcm
  // All that may be written of a case.
  std::vector<fs::path> of_case(const std::string& id, const std::vector<std::string>& outputs) const;
  // What is written once for all cases, with its content: names and colours of labels, what BIDS asks for.
  std::vector<std::pair<fs::path, std::string>> shared() const;

 private:
  fs::path anat(const std::string& id, const std::string& what) const;

  fs::path folder_;
  const data::Dataset& dataset_;
  const PredictOptions& how_;
};

// The labels as programs that draw them want them.
std::vector<data::Segment> segments_of(const data::Dataset& dataset);

}  // namespace voxswap::pipeline
