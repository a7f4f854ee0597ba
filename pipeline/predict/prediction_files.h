// File names of predictions, named after cases or as a BIDS derivative.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/filesystem.h"
#include "data/formats/segmentation_writing.h"
#include "data/layouts/dataset.h"
#include "pipeline/predict/predictor.h"

namespace voxswap::pipeline {

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
