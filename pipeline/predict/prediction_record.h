// OUT/prediction.json records the run and options of label maps, and the files of each case. A later
// prediction of the same cases removes recorded files that it does not write again.
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
#include "pipeline/predict/predictor.h"

namespace voxswap::pipeline {

class PredictionRecord {
 public:
  // Reads the record in `folder`; throws Exit::bad_data if prediction.json is invalid.
  PredictionRecord(fs::path folder, const std::vector<TrainedRun>& runs, const fs::path& input,
                   const PredictOptions& how);
  ~PredictionRecord();  // saves, so that an interrupted prediction is recorded, too
  PredictionRecord(const PredictionRecord&) = delete;
  PredictionRecord& operator=(const PredictionRecord&) = delete;

  // Records that a case lacks channels.
  void lacks(const std::string& id, const std::vector<std::string>& channels) { now_.missing[id] = channels; }
  // Records what case `id` was read from: its first file, relative to the input.
  void reads(const std::string& id, const std::string& source) { now_.sources[id] = source; }
  std::string source(const std::string& id) const;       // as recorded last; empty if it was not
  std::string case_of(const std::string& source) const;  // recorded last with this source
  // Records a file of case `id`.
  void wrote(const std::string& id, const fs::path& file);
  // Removes files of earlier predictions of the cases recorded since the last call, and writes the record.
  void save();
  // True if an earlier prediction with these runs and options recorded the case.
  bool held(const std::string& id) const;
  // Another case than `id` to which a recorded file belongs; empty if there is none.
  std::string other_owner(const fs::path& file, const std::string& id) const;

 private:
  struct Prediction {
    std::string made_with;                                    // JSON without cases and missing channels
    std::map<std::string, std::set<std::string>> files;       // by case, relative to the folder
    std::map<std::string, std::vector<std::string>> missing;  // channels by case
    std::map<std::string, std::string> sources;               // by case
  };

  void read();
  void write();

  fs::path folder_;
  std::vector<Prediction> former_;
  Prediction now_;
  bool saved_ = true, warned_ = false;
};

// File names of predictions, named after cases or as a BIDS derivative.
class PredictionFiles {
 public:
  // `dataset` and `how` must outlive it.
  PredictionFiles(fs::path folder, const data::Dataset& dataset, const PredictOptions& how);

  const fs::path& folder() const { return folder_; }
  // For image classification, a single table of all cases.
  fs::path label_map(const std::string& id) const;
  fs::path probability(const std::string& id, const std::string& output) const;
  fs::path segmentation(const std::string& id) const;        // .seg.nrrd
  fs::path dicom_segmentation(const std::string& id) const;  // .seg.dcm
  // All files that may be written for a case.
  std::vector<fs::path> of_case(const std::string& id, const std::vector<std::string>& outputs) const;
  // Files written once for all cases, with their content: names and colours of labels, and files required by
  // BIDS.
  std::vector<std::pair<fs::path, std::string>> shared() const;

 private:
  fs::path anat(const std::string& id, const std::string& what) const;

  fs::path folder_;
  const data::Dataset& dataset_;
  const PredictOptions& how_;
};

// Finds cases whose label maps would overwrite one another: BIDS keeps only letters and digits of names.
class Claims {
 public:
  // Both must outlive it.
  Claims(const PredictionFiles& folder, const PredictionRecord& record) : folder_(folder), record_(record) {}
  // Throws Exit::bad_data if another case has the label map of this one.
  void add(const std::string& id);

 private:
  const PredictionFiles& folder_;
  const PredictionRecord& record_;
  std::map<std::string, std::string> owners_;  // cases by file
};

// Label names and colours for segmentation formats.
std::vector<data::Segment> segments_of(const data::Dataset& dataset);

}  // namespace voxswap::pipeline
