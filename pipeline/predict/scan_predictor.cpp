#include "pipeline/predict/scan_predictor.h"

#include <algorithm>
#include <span>

#include "base/interrupt.h"
#include "base/log.h"
#include "base/text.h"
#include "data/cases/read_case.h"
#include "data/formats/dicom_segmentation.h"
#include "data/formats/formats.h"
#include "data/formats/image_io.h"
#include "data/formats/image_writing.h"
#include "data/formats/segmentation_writing.h"
#include "data/volumes/orientation.h"
#include "pipeline/predict/case_reader.h"
#include "pipeline/predict/inference.h"
#include "pipeline/predict/predict.h"

namespace voxswap::pipeline {

namespace {

using Write = ScanPredictor::Write;

// Writes one file per output, with one output in memory at a time.
void write_probabilities(const Write& write, const PredictionFiles& files, const std::string& id,
                         ProbabilityStore& store, const data::Geometry& stored,
                         const std::vector<std::string>& outputs, const fs::path& like) {
  for (std::size_t c = 0; c < outputs.size(); ++c) {
    const fs::path file = files.probability(id, outputs[c]);
    make_directories(file.parent_path());
    write(file,
          [&] { data::write_image(file, data::as_stored(data::canonical(store.output(c)), stored), like); });
  }
}

// Writes a segmentation object that refers to the series of the case's first channel.
void write_dicom(const Write& write, const fs::path& file, const data::LabelMap& labels,
                 const data::Dataset& dataset, const data::CaseFiles& files, const PredictOptions& how) {
  if (std::all_of(labels.voxels.begin(), labels.voxels.end(), [](auto label) { return label == 0; }))
    return log::warn("{}: the label map is empty, so no segmentation object was written", files.id);
  write(file, [&] {
    data::write_dicom_segmentation(file, labels, segments_of(dataset), files.first_channel(), how.version);
  });
}

// Reads and logs the runs' post-processing steps.
std::vector<PostStep> steps_of(const data::Dataset& dataset, const PredictOptions& how) {
  if (how.postprocessing.empty()) return {};
  const Postprocessing found = read_postprocessing(how.postprocessing, dataset.regions);
  for (const PostStep& step : found.steps) log::info("{}: {}", how.postprocessing, step_words(step));
  return found.steps;
}

}  // namespace

struct ScanPredictor::Previous {
  Previous(const std::vector<TrainedRun>& given, const PredictOptions& asked)
      : how(options(asked)), known(verified(given, how)), predictor(known.runs, known.trained.front(), how) {
    predictor.use(members_of(known.runs));
  }
  // Those of the networks, and none of the outputs.
  static PredictOptions options(const PredictOptions& asked) {
    PredictOptions how;
    how.overlap = asked.overlap;
    how.mirror = asked.mirror;
    how.raw_weights = asked.raw_weights;
    return how;
  }

  PredictOptions how;
  VerifiedRuns known;
  ScanPredictor predictor;
};

ScanPredictor::ScanPredictor(const std::vector<TrainedRun>& runs, const data::Dataset& trained,
                             const PredictOptions& how)
    : trained_(trained),
      how_(how),
      memory_(runs.front().experiment.memory),
      largest_(choose_regions(trained.regions, how.largest)),
      steps_(steps_of(trained, how)),
      decoder_(make_decoder(trained, runs.front().experiment)),
      preparing_(data::for_modalities(runs.front().experiment.preprocess, trained.modalities)),
      names_(output_names(trained, runs.front().experiment.training)),
      previous_(runs.front().previous.empty() ? nullptr
                                              : std::make_shared<Previous>(runs.front().previous, how)),
      predictor_(runs.front(), trained, how) {}

data::PreparedCase ScanPredictor::prepared(data::Volume volume) {
  if (previous_) {
    volume.previous.map = data::canonical(previous_->predictor.predict(volume).labels);
    for (const auto& [name, value] : trained_.labels) volume.previous.labels.push_back(value);
  }
  return data::prepare(volume, preparing_);
}

data::PreparedCase ScanPredictor::read(const data::Dataset& dataset, const data::CaseFiles& files) {
  const fs::path& first = files.first_channel();
  if (data::is_nifti(first))  // others that are read often have many files
    for (const std::string& oddity : data::read_header(first).oddities)
      log::warn("{}: {}", first.string(), oddity);
  return prepared(data::read_case(dataset, files));
}

ClassRow ScanPredictor::classify(const data::PreparedCase& prepared, const data::CaseFiles& files) {
  return class_row(trained_, files, predictor_.probabilities(prepared));
}

ScanPredictor::Predicted ScanPredictor::predict(const data::Volume& volume) {
  return predict(prepared(volume), scratch_for(memory_, fs::temp_directory_path()));
}

ScanPredictor::Predicted ScanPredictor::predict(data::PreparedCase prepared, Scratch scratch) {
  Predicted result{std::move(prepared), {}, {}};
  if (how_.probabilities)
    result.store = std::make_unique<ProbabilityStore>(result.prepared, names_.size(), scratch);
  data::LabelMap labels{result.prepared.original, {}};
  labels.voxels.reserve(static_cast<std::size_t>(labels.geometry.count()));
  Decision decision(result.prepared, decoder_, append_to(labels.voxels), {}, result.store.get());
  predictor_.predict(
      result.prepared, [&](std::span<const float> planes) { decision.add(planes); }, scratch);
  decision.finish();
  for (const PostStep& step : steps_) apply_step(labels, step, trained_.regions);
  keep_largest_components(labels, largest_, trained_.regions);
  result.labels = data::as_stored(data::canonical(std::move(labels)), result.prepared.stored);
  return result;
}

void ScanPredictor::predict(data::PreparedCase prepared, const data::CaseFiles& files,
                            const PredictionFiles& folder, const Write& write) {
  Predicted found = predict(std::move(prepared), scratch_for(memory_, folder.folder()));
  const fs::path file = folder.label_map(files.id);
  make_directories(file.parent_path());
  if (how_.segmentations) {
    const fs::path named = folder.segmentation(files.id);
    write(named, [&] { data::write_segmentation(named, found.labels, segments_of(trained_)); });
  }
  if (how_.dicom_segmentations)
    write_dicom(write, folder.dicom_segmentation(files.id), found.labels, trained_, files, how_);
  if (how_.probabilities)
    write_probabilities(write, folder, files.id, *found.store, found.prepared.stored, names_,
                        files.first_channel());
  write(file, [&] { data::write_label_map(file, found.labels, files.first_channel()); });
}

std::vector<ClassRow> predict_cases(ScanPredictor& predictor, const data::Dataset& dataset,
                                    const PredictionFiles& folder, const Outputs& outputs,
                                    PredictionRecord& record, const AfterError& after_error,
                                    const std::function<void(const data::CaseFiles& files)>& finished) {
  std::vector<ClassRow> classes;
  // In a cascade, reading predicts, which uses all cores.
  CaseReader reader(
      dataset.cases.size(), [&](std::size_t i) { return predictor.read(dataset, dataset.cases[i]); },
      /*ahead=*/!predictor.is_cascade());
  for (const data::CaseFiles& files : dataset.cases) {
    throw_if_interrupted();
    const auto write = [&](const fs::path& file, const std::function<void()>& produce) {
      outputs.write(file, produce);
      record.wrote(files.id, file);
    };
    try {
      if (dataset.classes)
        classes.push_back(predictor.classify(reader.next(), files));
      else
        predictor.predict(reader.next(), files, folder, write);
    } catch (const Error& error) {
      after_error(files, error);
      continue;
    }
    finished(files);
  }
  return classes;
}

}  // namespace voxswap::pipeline
