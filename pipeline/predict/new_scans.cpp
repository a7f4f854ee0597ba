#include "pipeline/predict/new_scans.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "base/csv.h"
#include "base/error.h"
#include "base/file.h"
#include "base/filesystem.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/outputs.h"
#include "base/progress.h"
#include "data/cases/read_case.h"
#include "data/formats/dicom_segmentation.h"
#include "data/formats/image_writing.h"
#include "data/formats/segmentation_writing.h"
#include "data/layouts/prediction_input.h"
#include "data/volumes/orientation.h"
#include "pipeline/predict/classify.h"
#include "pipeline/predict/largest_component.h"
#include "pipeline/predict/predict.h"
#include "pipeline/predict/prediction_files.h"
#include "pipeline/predict/prediction_record.h"
#include "pipeline/record/resume.h"
#include "pipeline/record/trained.h"

namespace voxswap::pipeline {

namespace {

// A file per output channel, one in memory at a time.
using Write = std::function<void(const fs::path& file, const std::function<void()>& produce)>;

void write_probabilities(const Write& write, const PredictionFiles& files, const std::string& id,
                         const ProbabilityMaps& maps, const data::PreparedCase& prepared,
                         const std::vector<std::string>& outputs) {
  for (std::size_t c = 0; c < outputs.size(); ++c) {
    const fs::path file = files.probability(id, outputs[c]);
    make_directories(file.parent_path());
    write(file, [&] {
      data::write_image(file,
                        data::as_stored(native_probability(maps.channels[c], prepared), prepared.stored));
    });
  }
}

// What the network found on the series of a case's first channel.
void write_dicom(const Write& write, const fs::path& file, const data::LabelMap& labels,
                 const data::Dataset& dataset, const data::CaseFiles& files, const PredictOptions& how) {
  if (std::all_of(labels.voxels.begin(), labels.voxels.end(), [](auto label) { return label == 0; }))
    return log::warn("{}: nothing is labelled: there is no segmentation object of it", files.id);
  write(file, [&] {
    data::write_dicom_segmentation(file, labels, segments_of(dataset), files.channels.front(), how.version);
  });
}

// A segmentation object names the slices that it was made of.
void check_for_dicom(const data::Dataset& dataset) {
  if (!data::writes_dicom_segmentations())
    fail(Exit::usage, "--dicom-seg: this voxswap was built without DCMTK, which writes them; leave it out");
  for (const data::CaseFiles& files : dataset.cases)
    if (!fs::is_directory(files.channels.front()))
      fail(Exit::usage, "--dicom-seg: {} of case {} is no DICOM series; --segmentations writes a .seg.nrrd",
           files.channels.front().string(), files.id);
}

// Folders of predictions, one for each network that predicts by itself.
std::vector<PredictionFiles> prediction_files(const RunOptions& options, const fs::path& out,
                                              const data::Dataset& dataset, const PredictOptions& how) {
  std::vector<PredictionFiles> all;
  if (how.ensemble || options.training.repeats == 1)
    all.emplace_back(out, dataset, how);
  else
    for (std::int64_t repeat = 1; repeat <= options.training.repeats; ++repeat)
      all.emplace_back(out / format("repeat_{}", repeat), dataset, how);
  return all;
}

// What may be written of all that predict() will write: known before the first case is read.
Outputs outputs_beside(const data::Dataset& dataset, const fs::path& input,
                       const std::vector<PredictionFiles>& folders, const std::vector<std::string>& outputs,
                       const PredictOptions& how) {
  Outputs files(how.force);
  files.protect(input);
  files.protect_below(input);
  files.protect_below(dataset.root);
  for (const data::CaseFiles& one : dataset.cases)
    for (const fs::path& channel : one.channels) files.protect(channel);
  for (const PredictionFiles& folder : folders) {
    for (const auto& [file, content] : folder.shared()) files.check(file);
    for (const data::CaseFiles& one : dataset.cases)
      for (const fs::path& file : folder.of_case(one.id, outputs)) files.check(file);
  }
  return files;
}

// case,predicted,probability_NAME, …: nothing is known of a truth, and the run is in the record beside it.
Csv classes_of_scans(const std::vector<ClassRow>& rows) {
  const Csv csv = classes_csv(rows);
  Csv told;
  told.rows.resize(csv.rows.size());
  for (std::size_t c = 0; c < csv.header.size(); ++c) {
    const std::string& column = csv.header[c];
    if (column != "case" && column != "predicted" && !column.starts_with("probability_")) continue;
    told.header.push_back(column);
    for (std::size_t i = 0; i < csv.rows.size(); ++i) told.rows[i].push_back(csv.rows[i][c]);
  }
  return told;
}

// What is asked for of label maps.
void check_for_classes(const PredictOptions& how) {
  if (how.probabilities)
    fail(Exit::usage, "--probabilities: classes.csv has those of every image already; leave it out");
  if (!how.largest.empty())
    fail(Exit::usage, "--keep-largest: is for label maps, and this run gives images one class; leave it out");
}

void write_classes(const fs::path& folder, const std::vector<ClassRow>& classes, const Outputs& outputs,
                   PredictionRecord& record) {
  if (classes.empty()) return;
  const fs::path table = folder / "classes.csv";
  outputs.write(table, [&] { write_csv(table, classes_of_scans(classes)); });
  for (const ClassRow& row : classes) record.wrote(row.case_id, table);
}

// `each`: predictions of a case.
void tell_end(const data::Dataset& dataset, const std::set<std::string>& left_out, std::size_t each,
              const fs::path& out) {
  if (!left_out.empty())
    fail(Exit::bad_data, "{} of {} cases could not be predicted: {}; {} has the others", left_out.size(),
         dataset.cases.size(), join({left_out.begin(), left_out.end()}, ", "), out.string());
  log::info("{} {}{} in {}", dataset.cases.size() * each, dataset.classes ? "classes" : "label maps",
            each == 1 ? "" : format(" of {} cases, of {} repeats each,", dataset.cases.size(), each),
            out.string());
}

}  // namespace

void predict(const RunOptions& given, const fs::path& input, const fs::path& out, const PredictOptions& how) {
  const RunOptions options = confirmed_for_prediction(given);
  const data::Dataset trained = trained_on(options),
                      dataset = data::open_for_prediction(trained, options.data, input);
  check_suits(options, dataset);
  if (dataset.classes) check_for_classes(how);
  for (const auto& [asked, name] : {std::pair{how.segmentations, "--segmentations"}, {how.bids, "--bids"}})
    if (asked && dataset.images)
      fail(Exit::usage, "{}: is for volumes, and these cases are pictures; leave it out", name);
  if (how.dicom_segmentations) check_for_dicom(dataset);
  const data::Regions largest = choose_regions(dataset.regions, how.largest);
  const LabelDecoder decoder = make_decoder(dataset, options.training);
  const data::PrepareOptions preparing = data::for_modalities(options.preprocess, dataset.modalities);
  const std::vector<std::string> names = output_names(dataset, options.training);
  const std::vector<PredictionFiles> folders = prediction_files(options, out, dataset, how);
  const Outputs outputs = outputs_beside(dataset, input, folders, names, how);
  Predictor predictor(options, trained, how);
  make_writable_directory(out);
  std::vector<std::int64_t> repeats(static_cast<std::size_t>(options.training.repeats));
  std::iota(repeats.begin(), repeats.end(), 1);
  const std::size_t together = how.ensemble ? repeats.size() : 1;
  std::set<std::string> left_out;
  PredictionRecord record(out, options, input, how);
  Progress progress("predicting", "cases",
                    static_cast<std::int64_t>(dataset.cases.size() * (repeats.size() / together)));
  for (std::size_t first = 0; first < repeats.size(); first += together) {
    predictor.use({repeats.begin() + static_cast<std::ptrdiff_t>(first),
                   repeats.begin() + static_cast<std::ptrdiff_t>(first + together)});
    const PredictionFiles& folder = folders[first / together];
    make_directories(folder.folder());
    std::vector<ClassRow> classes;
    const auto predict_case = [&](const data::CaseFiles& files) {
      const data::PreparedCase prepared = data::prepare(data::read_case(dataset, files), preparing);
      if (dataset.classes) {
        classes.push_back(class_row(dataset, files, predictor.probabilities(prepared)));
        return;
      }
      const ProbabilityMaps maps = probability_maps(prepared, predictor.probabilities(prepared));
      data::LabelMap labels = decide(maps, prepared, decoder).native;
      keep_largest_components(labels, largest, dataset.regions);
      const auto write = [&](const fs::path& file, const std::function<void()>& produce) {
        outputs.write(file, produce);
        record.wrote(files.id, file);
      };
      const fs::path file = folder.label_map(files.id);
      make_directories(file.parent_path());
      const data::LabelMap stored = data::as_stored(std::move(labels), prepared.stored);
      write(file, [&] { data::write_label_map(file, stored); });
      if (how.segmentations) {
        const fs::path named = folder.segmentation(files.id);
        write(named, [&] { data::write_segmentation(named, stored, segments_of(dataset)); });
      }
      if (how.dicom_segmentations)
        write_dicom(write, folder.dicom_segmentation(files.id), stored, dataset, files, how);
      if (how.probabilities) write_probabilities(write, folder, files.id, maps, prepared, names);
    };
    for (const data::CaseFiles& files : dataset.cases) {
      throw_if_interrupted();
      try {
        predict_case(files);
      } catch (const Error& error) {  // a damaged case does not cost the others
        if (error.exit() != Exit::bad_data || dataset.cases.size() == 1) throw;
        log::warn("{}: left out: {}", files.id, error.what());
        left_out.insert(files.id);
      }
      progress.advance();
    }
    write_classes(folder.folder(), classes, outputs, record);
    for (const auto& [file, content] : folder.shared())
      outputs.write(file, [&] { write_file(file, content); });
  }
  record.finish();
  tell_end(dataset, left_out, repeats.size() / together, out);
}

}  // namespace voxswap::pipeline
