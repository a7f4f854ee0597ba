#include "pipeline/predict/new_scans.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <set>

#include "base/csv.h"
#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/keys.h"
#include "base/log.h"
#include "base/outputs.h"
#include "base/progress.h"
#include "base/text.h"
#include "data/cases/case_rules.h"
#include "data/cases/read_case.h"
#include "data/formats/dicom_segmentation.h"
#include "data/formats/image_writing.h"
#include "data/formats/segmentation_writing.h"
#include "data/layouts/prediction_input.h"
#include "data/volumes/orientation.h"
#include "pipeline/predict/case_reader.h"
#include "pipeline/predict/inference.h"
#include "pipeline/predict/postprocessing.h"
#include "pipeline/predict/predict.h"
#include "pipeline/predict/prediction_record.h"
#include "pipeline/predict/probability_store.h"
#include "pipeline/record/resume.h"

namespace voxswap::pipeline {

namespace {

// Calls `produce`, which writes this file.
using Write = std::function<void(const fs::path& file, const std::function<void()>& produce)>;

// Writes one file per output, with one output in memory at a time.
void write_probabilities(const Write& write, const PredictionFiles& files, const std::string& id,
                         ProbabilityStore& store, const data::Geometry& stored,
                         const std::vector<std::string>& outputs) {
  for (std::size_t c = 0; c < outputs.size(); ++c) {
    const fs::path file = files.probability(id, outputs[c]);
    make_directories(file.parent_path());
    write(file, [&] { data::write_image(file, data::as_stored(data::canonical(store.output(c)), stored)); });
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

// A segmentation object refers to the slices of its DICOM series.
void check_for_dicom(const data::Dataset& dataset) {
  if (!data::writes_dicom_segmentations())
    fail(Exit::usage,
         "--dicom-seg: this voxswap was built without DCMTK, which writes segmentation objects. Leave it "
         "out, or install DCMTK and build again");
  for (const data::CaseFiles& files : dataset.cases)
    if (!fs::is_directory(files.first_channel()))
      fail(Exit::usage,
           "--dicom-seg: {} of case {} is not a DICOM series. Use --segmentations to write a .seg.nrrd",
           files.first_channel().string(), files.id);
}

void keep_subjects(data::Dataset& dataset, const std::vector<std::string>& subjects) {
  if (subjects.empty()) return;
  const auto is_of = [](const data::CaseFiles& files, const std::string& subject) {
    return files.id == "sub-" + subject || files.id.starts_with("sub-" + subject + "_");
  };
  for (const std::string& subject : subjects)
    if (std::none_of(dataset.cases.begin(), dataset.cases.end(),
                     [&](const data::CaseFiles& files) { return is_of(files, subject); }))
      fail(Exit::bad_data, "{}: has no participant {}{}", dataset.root.string(), subject,
           dataset.cases.empty() ? std::string()
                                 : format(". The first of {} is {}", counted(dataset.cases.size(), "case"),
                                          dataset.cases.front().id));
  std::erase_if(dataset.cases, [&](const data::CaseFiles& files) {
    return std::none_of(subjects.begin(), subjects.end(),
                        [&](const std::string& subject) { return is_of(files, subject); });
  });
}

// Members that predict together, and their output files.
struct Predicting {
  std::vector<Member> members;
  PredictionFiles files;
};

std::vector<Predicting> teams_of(const std::vector<TrainedRun>& runs, const fs::path& out,
                                 const data::Dataset& dataset, const PredictOptions& how) {
  const std::vector<Member> members = members_of(runs);
  if (predict_together(runs, how) || members.size() == 1)
    return {{members, PredictionFiles(out, dataset, how)}};
  std::vector<Predicting> teams;
  for (const Member& member : members)
    teams.push_back({{member}, PredictionFiles(out / format("repeat_{}", member.repeat), dataset, how)});
  return teams;
}

// Checks before the first case is read that all outputs may be written.
Outputs outputs_beside(const data::Dataset& dataset, const fs::path& input,
                       const std::vector<Predicting>& teams, const std::vector<std::string>& outputs,
                       const PredictOptions& how) {
  Outputs files(how.force);
  files.protect(input);
  files.protect_below(input);
  files.protect_below(dataset.root);
  for (const data::CaseFiles& one : dataset.cases)
    for (const fs::path& channel : one.channels) files.protect(channel);
  for (const Predicting& team : teams) {
    for (const auto& [file, content] : team.files.shared()) files.check(file);
    for (const data::CaseFiles& one : dataset.cases)
      for (const fs::path& file : team.files.of_case(one.id, outputs)) files.check(file);
  }
  return files;
}

// Columns case,predicted,probability_NAME,…: the true class is unknown, and prediction.json names the run.
Csv classes_of_scans(const std::vector<ClassRow>& rows) {
  const Csv csv = csv_of(rows);
  Csv result;
  result.rows.resize(csv.rows.size());
  for (std::size_t c = 0; c < csv.header.size(); ++c) {
    const std::string& column = csv.header[c];
    if (column != "case" && column != "predicted" && !column.starts_with("probability_")) continue;
    result.header.push_back(column);
    for (std::size_t i = 0; i < csv.rows.size(); ++i) result.rows[i].push_back(csv.rows[i][c]);
  }
  return result;
}

// Rejects options that need label maps.
void check_for_classes(const PredictOptions& how) {
  if (how.probabilities)
    fail(Exit::usage, "--probabilities: classes.csv contains those of every image already. Leave it out");
  if (!how.largest.empty())
    fail(Exit::usage,
         "--keep-largest: needs label maps, but this run predicts one class per image. Leave it out");
}

void write_classes(const fs::path& folder, const std::vector<ClassRow>& classes, const Outputs& outputs,
                   PredictionRecord& record) {
  if (classes.empty()) return;
  const fs::path table = folder / "classes.csv";
  outputs.write(table, [&] { write_csv(table, classes_of_scans(classes)); });
  for (const ClassRow& row : classes) record.wrote(row.case_id, table);
}

// Warns of files that look like cases but are not predicted; returns the names of those that count as errors.
std::set<std::string> overlooked_in(const data::Dataset& dataset) {
  std::set<std::string> overlooked;
  for (const data::Unused& one : dataset.left_out) {
    const std::string name = one.path.lexically_relative(plain(dataset.root)).string();
    log::warn("{}: not predicted: {}", name, one.why);
    if (one.severity == "error") overlooked.insert(name);
  }
  return overlooked;
}

// `each`: predictions per case.
void log_end(std::size_t cases, const data::Dataset& dataset, const std::set<std::string>& left_out,
             std::size_t each, const fs::path& out) {
  if (!left_out.empty())
    fail(Exit::bad_data, "{} of {} could not be predicted: {}. The others are in {}", left_out.size(),
         counted(cases, "case"), join({left_out.begin(), left_out.end()}, ", "), out.string());
  log::info("{}{} in {}", counted(cases * each, dataset.classes ? "class" : "label map"),
            each == 1 ? "" : format(" of {}, of {} each,", counted(cases, "case"), counted(each, "repeat")),
            out.string());
}

// Rejects options that do not suit the data.
void check_suits(const data::Dataset& dataset, const PredictOptions& how) {
  if (dataset.classes) check_for_classes(how);
  for (const auto& [asked, name] : {std::pair{how.segmentations, "--segmentations"}, {how.bids, "--bids"}})
    if (asked && dataset.images)
      fail(Exit::usage, "{}: needs volumes, but these cases are 2D images. Leave it out", name);
  if (how.dicom_segmentations) check_for_dicom(dataset);
}

// Collects and logs missing channels.
PredictionRecord::Missing missing_in(const data::Dataset& dataset, const Experiment& experiment) {
  PredictionRecord::Missing missing;
  for (const data::CaseFiles& files : dataset.cases) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < dataset.modalities.size(); ++i)
      if (files.lacks(i)) names.push_back(dataset.modalities[i]);
    if (names.empty()) continue;
    log::warn("{}: has no {}, which is replaced by 0", files.id, join(names, ", "));
    missing[files.id] = std::move(names);
  }
  if (!missing.empty() && experiment.training.augment.channel_dropout == 0)
    log::warn(
        "{} was 0, so the network was not trained for missing channels, unless training cases lacked some",
        key::training_augment_channel_dropout);
  return missing;
}

// Reads and logs the runs' post-processing steps.
std::vector<PostStep> steps_of(const data::Dataset& dataset, const PredictOptions& how) {
  if (how.postprocessing.empty()) return {};
  const Postprocessing found = read_postprocessing(how.postprocessing, dataset.regions);
  for (const PostStep& step : found.steps) log::info("{}: {}", how.postprocessing, step_words(step));
  return found.steps;
}

// Predicts cases and writes the requested files.
class ScanPredictor {
 public:
  ScanPredictor(const std::vector<TrainedRun>& runs, const data::Dataset& trained,
                const data::Dataset& dataset, const PredictOptions& how)
      : dataset_(dataset),
        how_(how),
        memory_(runs.front().experiment.memory),
        largest_(choose_regions(dataset.regions, how.largest)),
        steps_(steps_of(dataset, how)),
        decoder_(make_decoder(dataset, runs.front().experiment)),
        preparing_(data::for_modalities(runs.front().experiment.preprocess, dataset.modalities)),
        names_(output_names(dataset, runs.front().experiment.training)),
        predictor_(runs.front(), trained, how) {}

  void use(const std::vector<Member>& members) { predictor_.use_members(members); }

  data::PreparedCase read(const data::CaseFiles& files) const {
    return data::prepare(data::read_case(dataset_, files), preparing_);
  }

  ClassRow classify(const data::PreparedCase& prepared, const data::CaseFiles& files) {
    return class_row(dataset_, files, predictor_.probabilities(prepared));
  }

  struct Predicted {
    data::PreparedCase prepared;
    data::LabelMap labels;                    // in the stored orientation
    std::unique_ptr<ProbabilityStore> store;  // with how.probabilities
  };
  Predicted predict(const data::Volume& volume) {
    return predict(data::prepare(volume, preparing_), std::numeric_limits<std::int64_t>::max(), {});
  }
  // `most_bytes` of probabilities stay in memory, more are in a scratch file in `folder`.
  Predicted predict(data::PreparedCase prepared, std::int64_t most_bytes, const fs::path& folder) {
    Predicted result{std::move(prepared), {}, {}};
    if (how_.probabilities)
      result.store = std::make_unique<ProbabilityStore>(result.prepared, names_.size(), most_bytes, folder);
    data::LabelMap labels{result.prepared.original, {}};
    labels.voxels.reserve(static_cast<std::size_t>(labels.geometry.count()));
    Decision decision(result.prepared, decoder_, append_to(labels.voxels), {}, result.store.get());
    predictor_.predict(result.prepared, [&](std::span<const float> planes) { decision.add(planes); });
    decision.finish();
    for (const PostStep& step : steps_) apply_step(labels, step, dataset_.regions);
    keep_largest_components(labels, largest_, dataset_.regions);
    result.labels = data::as_stored(data::canonical(std::move(labels)), result.prepared.stored);
    return result;
  }

  void predict(data::PreparedCase prepared, const data::CaseFiles& files, const PredictionFiles& folder,
               const Write& write) {
    const fs::path& disk = memory_.disk_folder;
    Predicted found =
        predict(std::move(prepared), most_bytes_in_memory(memory_), disk.empty() ? folder.folder() : disk);
    const fs::path file = folder.label_map(files.id);
    make_directories(file.parent_path());
    write(file, [&] { data::write_label_map(file, found.labels); });
    if (how_.segmentations) {
      const fs::path named = folder.segmentation(files.id);
      write(named, [&] { data::write_segmentation(named, found.labels, segments_of(dataset_)); });
    }
    if (how_.dicom_segmentations)
      write_dicom(write, folder.dicom_segmentation(files.id), found.labels, dataset_, files, how_);
    if (how_.probabilities)
      write_probabilities(write, folder, files.id, *found.store, found.prepared.stored, names_);
  }

  const std::vector<std::string>& outputs() const { return names_; }

 private:
  const data::Dataset& dataset_;
  const PredictOptions& how_;
  MemoryOptions memory_;
  data::Regions largest_;
  std::vector<PostStep> steps_;
  LabelDecoder decoder_;
  data::PrepareOptions preparing_;
  std::vector<std::string> names_;
  Predictor predictor_;
};

}  // namespace

void predict(const std::vector<TrainedRun>& given, const fs::path& input, const fs::path& out,
             const PredictOptions& how) {
  const auto [runs, trained] = verified(given, how);
  data::Dataset dataset = data::open_for_prediction(trained.front(), runs.front().experiment.data, input);
  keep_subjects(dataset, how.subjects);
  check_suits(runs.front().experiment, dataset);
  check_suits(dataset, how);
  const std::vector<Predicting> teams = teams_of(runs, out, dataset, how);
  const Outputs outputs =
      outputs_beside(dataset, input, teams, output_names(dataset, runs.front().experiment.training), how);
  ScanPredictor predictor(runs, trained.front(), dataset, how);
  make_writable_directory(out);
  std::set<std::string> left_out = overlooked_in(dataset);
  const std::size_t cases = dataset.cases.size() + left_out.size();
  PredictionRecord record(out, runs, input, how, missing_in(dataset, given.front().experiment));
  Progress progress("predicting", "cases", static_cast<std::int64_t>(dataset.cases.size() * teams.size()));
  for (const Predicting& team : teams) {
    predictor.use(team.members);
    make_directories(team.files.folder());
    std::vector<ClassRow> classes;
    CaseReader reader(dataset.cases.size(), [&](std::size_t i) { return predictor.read(dataset.cases[i]); });
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
          predictor.predict(reader.next(), files, team.files, write);
      } catch (const Error& error) {  // a damaged case does not stop the others
        if (error.exit() != Exit::bad_data || cases == 1) throw;
        log::warn("{}: skipped: {}", files.id, error.what());
        left_out.insert(files.id);
      }
      progress.advance();
    }
    write_classes(team.files.folder(), classes, outputs, record);
    for (const auto& [file, content] : team.files.shared())
      outputs.write(file, [&] { write_file(file, content); });
  }
  record.finish();
  log_end(cases, dataset, left_out, teams.size(), out);
}

struct MemoryPredictor::State {
  std::vector<TrainedRun> runs;
  std::vector<data::Dataset> trained;
  PredictOptions how;
  std::unique_ptr<ScanPredictor> predictor;
};

MemoryPredictor::MemoryPredictor(const std::vector<TrainedRun>& runs, const PredictOptions& how)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.how = how;
  VerifiedRuns known = verified(runs, how);
  s.runs = std::move(known.runs);
  s.trained = std::move(known.trained);
  check_suits(s.trained.front(), how);
  if (s.trained.front().classes)
    fail(Exit::usage, "{}: predicts one class per image, not label maps. Use voxswap predict",
         s.runs.front().experiment.output.string());
  s.predictor = std::make_unique<ScanPredictor>(s.runs, s.trained.front(), s.trained.front(), s.how);
  s.predictor->use(members_of(s.runs));
}

MemoryPredictor::~MemoryPredictor() = default;

MemoryPredictor::Result MemoryPredictor::predict(const data::Volume& volume) {
  const data::Dataset& dataset = state_->trained.front();
  for (std::size_t i = 0; i < volume.channels.size(); ++i)
    if (const std::string problem = data::nonfinite_voxels(dataset.modalities[i], volume.channels[i]);
        !problem.empty())
      throw Error(Exit::bad_data, problem);
  ScanPredictor::Predicted found = state_->predictor->predict(volume);
  Result result{std::move(found.labels), {}};
  if (!state_->how.probabilities) return result;
  for (std::size_t c = 0; c < outputs().size(); ++c)
    result.probabilities.push_back(
        data::as_stored(data::canonical(found.store->output(c)), found.prepared.stored));
  return result;
}

const data::Dataset& MemoryPredictor::dataset() const {
  return state_->trained.front();
}

const std::vector<std::string>& MemoryPredictor::outputs() const {
  return state_->predictor->outputs();
}

}  // namespace voxswap::pipeline
