#include "pipeline/predict/new_scans.h"

#include <algorithm>
#include <functional>
#include <set>
#include <thread>

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
#include "data/formats/dicom_segmentation.h"
#include "data/layouts/prediction_input.h"
#include "data/volumes/orientation.h"
#include "pipeline/predict/arrivals.h"
#include "pipeline/predict/inference.h"
#include "pipeline/predict/predict.h"
#include "pipeline/predict/prediction_record.h"
#include "pipeline/predict/scan_predictor.h"
#include "pipeline/record/resume.h"

namespace voxswap::pipeline {

namespace {

// A segmentation object refers to the slices of its DICOM series.
void check_for_dicom(const data::CaseFiles& files) {
  if (!fs::is_directory(files.first_channel()))
    fail(Exit::usage,
         "--dicom-seg: {} of case {} is not a DICOM series. Use --segmentations to write a .seg.nrrd",
         files.first_channel().string(), files.id);
}
void check_for_dicom(const data::Dataset& dataset) {
  if (!data::writes_dicom_segmentations())
    fail(Exit::usage,
         "--dicom-seg: this voxswap was built without DCMTK, which writes segmentation objects. Leave it "
         "out, or install DCMTK and build again");
  for (const data::CaseFiles& files : dataset.cases) check_for_dicom(files);
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
    fail(Exit::bad_data, "{} of {} could not be predicted: {}{}", left_out.size(), counted(cases, "case"),
         join({left_out.begin(), left_out.end()}, ", "),
         left_out.size() < cases ? ". The others are in " + out.string() : "");
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

// Logs and records missing channels.
void note_missing(const data::Dataset& dataset, const Experiment& experiment, PredictionRecord& record) {
  bool any = false;
  for (const data::CaseFiles& files : dataset.cases) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < dataset.modalities.size(); ++i)
      if (files.lacks(i)) names.push_back(dataset.modalities[i]);
    if (names.empty()) continue;
    log::warn("{}: has no {}, which is replaced by 0", files.id, join(names, ", "));
    record.lacks(files.id, names);
    any = true;
  }
  if (any && experiment.training.augment.channel_dropout == 0)
    log::warn(
        "{} was 0, so the network was not trained for missing channels, unless training cases lacked some",
        key::training_augment_channel_dropout);
}

void write_shared(const PredictionFiles& folder, const Outputs& outputs) {
  for (const auto& [file, content] : folder.shared()) outputs.write(file, [&] { write_file(file, content); });
}

// Predicts cases as they arrive. Those that cannot be predicted are logged; the others are recorded, one by
// one.
class ArrivingScans {
 public:
  ArrivingScans(const std::vector<TrainedRun>& runs, const data::Dataset& trained, const Predicting& team,
                const Outputs& outputs, PredictionRecord& record, const PredictOptions& how)
      : experiment_(runs.front().experiment),
        folder_(team.files),
        outputs_(outputs),
        record_(record),
        how_(how),
        predictor_(runs, trained, how),
        claims_(team.files, record) {
    predictor_.use(team.members);
  }

  void predict(data::Dataset arrived) {
    // A case keeps its name: names depend on those of others in the folder, which come and go.
    for (data::CaseFiles& files : arrived.cases)
      if (std::string known = record_.case_of(source_of(files, arrived)); !known.empty())
        files.id = std::move(known);
    std::erase_if(arrived.cases, [&](const data::CaseFiles& files) {
      return is_done(files, arrived) || !may_write(files, arrived);
    });
    if (arrived.cases.empty()) return;
    note_missing(arrived, experiment_, record_);
    predict_cases(predictor_, arrived, folder_, outputs_, record_, skip, [&](const data::CaseFiles& files) {
      record_.reads(files.id, source_of(files, arrived));
      record_.save();
      log::info("{}", folder_.label_map(files.id).string());
    });
  }

 private:
  static std::string source_of(const data::CaseFiles& files, const data::Dataset& arrived) {
    return files.first_channel().lexically_relative(arrived.root).string();
  }
  bool is_of_another(const data::CaseFiles& files, const data::Dataset& arrived) const {
    const std::string source = record_.source(files.id);
    return !source.empty() && source != source_of(files, arrived);
  }
  // An earlier call predicted it from the same files.
  bool is_done(const data::CaseFiles& files, const data::Dataset& arrived) {
    return known_.insert(files.id).second && record_.held(files.id) && !is_of_another(files, arrived) &&
           is_newer(folder_.label_map(files.id), files);
  }

  bool may_write(const data::CaseFiles& files, const data::Dataset& arrived) {
    try {
      if (how_.dicom_segmentations) check_for_dicom(files);
      for (const fs::path& file : folder_.of_case(files.id, predictor_.outputs())) outputs_.check(file);
      claims_.add(files.id);
      const fs::path file = folder_.label_map(files.id);
      error_code ignored;
      if (is_of_another(files, arrived) && fs::exists(file, ignored))
        fail(Exit::bad_data, "{} is the label map of {}. Rename the new case, or move the label map away",
             file.string(), record_.source(files.id));
      return true;
    } catch (const Error& error) {
      skip(files, error);
      return false;
    }
  }

  // Some errors, such as a folder that cannot be written, concern all cases.
  static void skip(const data::CaseFiles& files, const Error& error) {
    if (error.exit() == Exit::failed || error.exit() == Exit::interrupted) throw error;
    log::warn("{}: skipped: {}", files.id, error.what());
  }

  const Experiment& experiment_;
  const PredictionFiles& folder_;
  const Outputs& outputs_;
  PredictionRecord& record_;
  const PredictOptions& how_;
  ScanPredictor predictor_;
  Claims claims_;
  std::set<std::string> known_;
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
  ScanPredictor predictor(runs, trained.front(), how);
  make_writable_directory(out);
  std::set<std::string> left_out = overlooked_in(dataset);
  const std::size_t cases = dataset.cases.size() + left_out.size();
  PredictionRecord record(out, runs, input, how);
  if (how.bids) {
    Claims claims(teams.front().files, record);
    for (const data::CaseFiles& files : dataset.cases) claims.add(files.id);
  }
  note_missing(dataset, given.front().experiment, record);
  Progress progress("predicting", "cases", static_cast<std::int64_t>(dataset.cases.size() * teams.size()));
  for (const Predicting& team : teams) {
    predictor.use(team.members);
    make_directories(team.files.folder());
    const std::vector<ClassRow> classes = predict_cases(
        predictor, dataset, team.files, outputs, record,
        [&](const data::CaseFiles& files, const Error& error) {  // a damaged case does not stop the others
          if (error.exit() != Exit::bad_data || cases == 1) throw error;
          if (left_out.insert(files.id).second) log::warn("{}: skipped: {}", files.id, error.what());
          progress.advance();
        },
        [&](const data::CaseFiles&) { progress.advance(); });
    write_classes(team.files.folder(), classes, outputs, record);
    write_shared(team.files, outputs);
  }
  record.save();
  log_end(cases, dataset, left_out, teams.size(), out);
}

void predict_arriving(const std::vector<TrainedRun>& given, const fs::path& watched, const fs::path& out,
                      const PredictOptions& how, std::chrono::milliseconds settle) {
  using namespace std::chrono_literals;
  error_code ignored;
  if (!fs::is_directory(watched, ignored)) fail(Exit::bad_data, "{}: no such folder", watched.string());
  const std::string folder = fs::canonical(watched).string() + "/";
  if ((fs::weakly_canonical(out).string() + "/").starts_with(folder))
    fail(Exit::usage, "{}: is in the watched folder. Choose another --out", out.string());
  const auto [runs, trained] = verified(given, how);
  data::Dataset expected = trained.front();  // its cases are not known yet
  expected.cases.clear();
  if (expected.classes)
    fail(Exit::usage, "--watch: predicts label maps, but this run predicts one class per image. Use --input");
  const std::vector<Predicting> teams = teams_of(runs, out, expected, how);
  if (teams.size() > 1)
    fail(Exit::usage, "--watch: the run has {}. Add --ensemble to average over them",
         counted(teams.size(), "repeat"));
  check_suits(runs.front().experiment, expected);
  check_suits(expected, how);
  const Outputs outputs = outputs_beside(expected, watched, teams, {}, how);
  make_writable_directory(out);
  PredictionRecord record(out, runs, watched, how);
  ArrivingScans scans(runs, trained.front(), teams.front(), outputs, record, how);
  write_shared(teams.front().files, outputs);
  Arrivals arrivals(watched, settle, [&](const fs::path& folder) {
    return data::open_for_prediction(trained.front(), runs.front().experiment.data, folder);
  });
  log::info("watching {}: label maps are written to {}. Ctrl-C ends this", watched.string(), out.string());
  const auto pause = std::clamp<std::chrono::milliseconds>(settle / 4, 100ms, 2000ms);
  try {
    while (true) {
      scans.predict(arrivals.take(Arrivals::Clock::now()));
      for (auto waited = 0ms; waited < pause; waited += 100ms) {
        throw_if_interrupted();
        std::this_thread::sleep_for(100ms);
      }
    }
  } catch (const Error& error) {
    if (error.exit() != Exit::interrupted) throw;
    log::info("ended: label maps are in {}", out.string());
  }
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
  s.predictor = std::make_unique<ScanPredictor>(s.runs, s.trained.front(), s.how);
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
