// Predicts new scans, one at a time, and writes the files that were asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/outputs.h"
#include "data/layouts/dataset.h"
#include "data/volumes/volume.h"
#include "pipeline/cases/label_decoder.h"
#include "pipeline/predict/postprocessing.h"
#include "pipeline/predict/prediction_record.h"
#include "pipeline/predict/predictor.h"
#include "pipeline/predict/probability_store.h"
#include "pipeline/report/class_tables.h"

namespace voxswap::pipeline {

class ScanPredictor {
 public:
  // `trained`: the data set of the first run. It and `how` must outlive this.
  ScanPredictor(const std::vector<TrainedRun>& runs, const data::Dataset& trained, const PredictOptions& how);

  void use(const std::vector<Member>& members) { predictor_.use_members(members); }

  // Predicts with the first network of a cascade.
  data::PreparedCase read(const data::Dataset& dataset, const data::CaseFiles& files);
  bool is_cascade() const { return previous_ != nullptr; }

  // The class of an image.
  ClassRow classify(const data::PreparedCase& prepared, const data::CaseFiles& files);

  struct Predicted {
    data::PreparedCase prepared;
    data::LabelMap labels;                    // in the stored orientation
    std::unique_ptr<ProbabilityStore> store;  // with how.probabilities
  };
  Predicted predict(const data::Volume& volume);

  // Calls `produce`, which writes this file.
  using Write = std::function<void(const fs::path& file, const std::function<void()>& produce)>;
  // Writes the label map last.
  void predict(data::PreparedCase prepared, const data::CaseFiles& files, const PredictionFiles& folder,
               const Write& write);

  const std::vector<std::string>& outputs() const { return names_; }

 private:
  struct Previous;

  data::PreparedCase prepared(data::Volume volume);
  Predicted predict(data::PreparedCase prepared, Scratch scratch);

  const data::Dataset& trained_;
  const PredictOptions& how_;
  MemoryOptions memory_;
  data::Regions largest_;
  std::vector<PostStep> steps_;
  LabelDecoder decoder_;
  data::PrepareOptions preparing_;
  std::vector<std::string> names_;
  std::shared_ptr<Previous> previous_;  // the first network of a cascade
  Predictor predictor_;
};

// Decides what follows an error of a case: throws it to end the prediction, or returns to skip the case.
using AfterError = std::function<void(const data::CaseFiles& files, const Error& error)>;

// Predicts the cases of a data set, records their files, and returns the classes of images. Calls `finished`
// after each case.
std::vector<ClassRow> predict_cases(ScanPredictor& predictor, const data::Dataset& dataset,
                                    const PredictionFiles& folder, const Outputs& outputs,
                                    PredictionRecord& record, const AfterError& after_error,
                                    const std::function<void(const data::CaseFiles& files)>& finished);

}  // namespace voxswap::pipeline
