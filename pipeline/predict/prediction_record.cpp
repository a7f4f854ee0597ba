#include "pipeline/predict/prediction_record.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/outputs.h"
#include "base/text.h"
#include "data/formats/bids_writing.h"
#include "pipeline/cases/patches.h"
#include "pipeline/predict/predict.h"
#include "pipeline/record/resume.h"
#include "pipeline/report/palette.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

namespace {

constexpr const char* file_name = "prediction.json";

// Checksums of the weight files, also of the first networks of cascades.
Json weights_of(const std::vector<TrainedRun>& runs, const PredictOptions& how) {
  Json weights = Json::array();
  for (const Member& member : members_of(runs)) {
    const fs::path file = predicting_file(member.run->experiment, member.repeat, how.raw_weights);
    if (fs::exists(file)) weights.push_back(Hasher().add_file(file).digest());
  }
  for (const TrainedRun& run : runs)
    if (!run.previous.empty())
      for (const Json& one : weights_of(run.previous, how)) weights.push_back(one);
  return weights;
}

Json description(const std::vector<TrainedRun>& runs, const fs::path& input, const PredictOptions& how) {
  Experiment seen = runs.front().experiment;  // for the input size of the network
  if (how.whole) seen.training.patch.reset();
  if (how.window) seen.training.patch = how.window;
  Json json = {
      {"voxswap", how.version},
      {"run", plain(fs::absolute(seen.output)).string()},
      {"weights", weights_of(runs, how)},
      {"input", plain(fs::absolute(input)).string()},
      {"tta", how.mirror || std::any_of(runs.begin(), runs.end(),
                                        [](const TrainedRun& run) { return run.experiment.evaluate.tta; })},
      {"ensemble", predict_together(runs, how)},
      {"window", resolution_text(input_size(seen))},
      {"overlap", how.overlap},
      {"keep_largest", how.largest},
      {"probabilities", how.probabilities}};
  if (!how.postprocessing.empty())
    json["postprocessing"] = checked_json(read_file(how.postprocessing)).at("steps");
  for (const TrainedRun& run : runs)
    if (runs.size() > 1) json["runs"].push_back(plain(fs::absolute(run.experiment.output)).string());
  return json;
}

// True if two predictions differ in more than the paths of their scans.
bool differ(const std::string& one, const std::string& other) {
  Json a = checked_json(one), b = checked_json(other);
  for (Json* json : {&a, &b}) json->erase("input");
  return a != b;
}

// Only files inside the record's folder may be removed; other paths in a record are not trusted.
bool lies_beside(const fs::path& file) {
  const fs::path normal = plain(file);
  return normal.is_relative() && !normal.empty() && *normal.begin() != "..";
}

}  // namespace

PredictionRecord::PredictionRecord(fs::path folder, const std::vector<TrainedRun>& runs,
                                   const fs::path& input, const PredictOptions& how)
    : folder_(std::move(folder)), now_{description(runs, input, how).dump(), {}, {}, {}} {
  if (fs::exists(folder_ / file_name)) read();
}

PredictionRecord::~PredictionRecord() {
  try {
    save();
  } catch (const std::exception& error) {
    try {
      log::warn("{}", error.what());
    } catch (const std::exception&) {  // out of memory: the original error is reported anyway
    }
  }
}

void PredictionRecord::read() {
  const fs::path file = folder_ / file_name;
  bool sound = true;
  try {
    const Json record = checked_json(read_file(file));
    for (Json entry : record.at("predictions")) {
      Prediction prediction;
      prediction.files = entry.at("cases").get<decltype(prediction.files)>();
      entry.erase("cases");
      if (entry.contains("missing_modalities"))
        prediction.missing = entry.at("missing_modalities").get<decltype(prediction.missing)>();
      entry.erase("missing_modalities");
      if (entry.contains("sources"))
        prediction.sources = entry.at("sources").get<decltype(prediction.sources)>();
      entry.erase("sources");
      prediction.made_with = entry.dump();
      for (const auto& [id, files] : prediction.files)
        sound = sound && std::all_of(files.begin(), files.end(), lies_beside);
      former_.push_back(std::move(prediction));
    }
  } catch (const Json::exception&) {
    sound = false;
  }
  if (!sound)
    fail(Exit::bad_data, "{}: is not a record of predictions. Remove it or choose another --out",
         file.string());
}

void PredictionRecord::wrote(const std::string& id, const fs::path& file) {
  now_.files[id].insert(fs::relative(file, folder_).generic_string());
  saved_ = false;
}

bool PredictionRecord::held(const std::string& id) const {
  return std::any_of(former_.begin(), former_.end(), [&](const Prediction& former) {
    return former.files.contains(id) && !differ(former.made_with, now_.made_with);
  });
}

std::string PredictionRecord::source(const std::string& id) const {
  if (const auto found = now_.sources.find(id); found != now_.sources.end()) return found->second;
  for (auto former = former_.rbegin(); former != former_.rend(); ++former)
    if (const auto found = former->sources.find(id); found != former->sources.end()) return found->second;
  return {};
}

std::string PredictionRecord::case_of(const std::string& source) const {
  const auto among = [&](const Prediction& prediction) -> std::string {
    for (const auto& [id, recorded] : prediction.sources)
      if (recorded == source) return id;
    return {};
  };
  std::string id = among(now_);
  for (auto former = former_.rbegin(); id.empty() && former != former_.rend(); ++former) id = among(*former);
  return id;
}

std::string PredictionRecord::other_owner(const fs::path& file, const std::string& id) const {
  const std::string name = fs::relative(file, folder_).generic_string();
  const auto among = [&](const Prediction& prediction) -> std::string {
    for (const auto& [owner, files] : prediction.files)
      if (owner != id && files.contains(name)) return owner;
    return {};
  };
  std::string owner = among(now_);
  for (const Prediction& former : former_)
    if (owner.empty()) owner = among(former);
  return owner;
}

void PredictionRecord::save() {
  if (saved_) return;
  saved_ = true;
  for (Prediction& former : former_) {
    for (const auto& [id, files] : now_.files) {
      former.missing.erase(id);
      former.sources.erase(id);
      const auto before = former.files.extract(id);
      if (before.empty()) continue;
      for (const std::string& file : before.mapped()) {
        if (files.contains(file)) continue;
        if (remove_output(folder_ / file, folder_))
          log::debug("{}: removed, because an earlier prediction wrote it", (folder_ / file).string());
        else
          log::warn("{}: is kept, although {} names it: voxswap did not write it, or it was changed since",
                    (folder_ / file).string(), file_name);
      }
    }
  }
  std::erase_if(former_, [](const Prediction& former) { return former.files.empty(); });
  write();
}

void PredictionRecord::write() {
  Json predictions = Json::array();
  std::size_t others = 0;
  Prediction now = now_;
  const auto add = [&](const Prediction& prediction) {
    Json entry = checked_json(prediction.made_with);
    if (!prediction.missing.empty()) entry["missing_modalities"] = prediction.missing;
    if (!prediction.sources.empty()) entry["sources"] = prediction.sources;
    entry["cases"] = prediction.files;
    predictions.push_back(std::move(entry));
  };
  for (const Prediction& former : former_) {
    if (former.made_with == now.made_with) {
      now.files.insert(former.files.begin(), former.files.end());
      now.missing.insert(former.missing.begin(), former.missing.end());
      now.sources.insert(former.sources.begin(), former.sources.end());
      continue;
    }
    add(former);
    if (differ(former.made_with, now.made_with)) others += former.files.size();
  }
  add(now);
  write_file(folder_ / file_name, Json{{"predictions", predictions}}.dump(2) + "\n");
  if (others > 0 && !std::exchange(warned_, true))
    log::warn("{}: also contains {} predicted with other options. See {}", folder_.string(),
              counted(others, "other case"), file_name);
}

namespace {

// Case names in BIDS form (sub-01_ses-1) are kept; others become subjects.
std::string subject_of(const std::string& id) {
  return id.starts_with("sub-") ? id.substr(0, id.find('_')) : "sub-" + data::bids_label(id);
}
std::string session_of(const std::string& id) {
  const std::size_t at = id.find("_ses-");
  return id.starts_with("sub-") && at != id.npos ? id.substr(at + 1) : "";
}

}  // namespace

PredictionFiles::PredictionFiles(fs::path folder, const data::Dataset& dataset, const PredictOptions& how)
    : folder_(std::move(folder)), dataset_(dataset), how_(how) {}

fs::path PredictionFiles::anat(const std::string& id, const std::string& what) const {
  const std::string subject = subject_of(id), session = session_of(id);
  const fs::path below = session.empty() ? fs::path(subject) : fs::path(subject) / session;
  const std::string name = session.empty() ? subject : subject + "_" + session;
  return folder_ / below / "anat" / (name + "_" + what);
}

fs::path PredictionFiles::label_map(const std::string& id) const {
  if (how_.bids) return anat(id, "desc-voxswap_dseg.nii.gz");
  return folder_ / (dataset_.classes ? "classes.csv" : label_map_name(dataset_, id));
}

fs::path PredictionFiles::probability(const std::string& id, const std::string& output) const {
  if (how_.bids) return anat(id, "label-" + data::bids_label(output) + "_desc-voxswap_probseg.nii.gz");
  return folder_ / "probabilities" / format("{}_{}.nii.gz", id, output);
}

fs::path PredictionFiles::segmentation(const std::string& id) const {
  return folder_ / (id + ".seg.nrrd");
}

fs::path PredictionFiles::dicom_segmentation(const std::string& id) const {
  return folder_ / (id + ".seg.dcm");
}

std::vector<fs::path> PredictionFiles::of_case(const std::string& id,
                                               const std::vector<std::string>& outputs) const {
  std::vector<fs::path> files = {label_map(id)};
  if (how_.segmentations) files.push_back(segmentation(id));
  if (how_.dicom_segmentations) files.push_back(dicom_segmentation(id));
  if (how_.probabilities)
    for (const std::string& output : outputs) files.push_back(probability(id, output));
  return files;
}

std::vector<std::pair<fs::path, std::string>> PredictionFiles::shared() const {
  std::vector<std::pair<fs::path, std::string>> files;
  if (how_.segmentations)
    files.emplace_back(folder_ / "itksnap_labels.txt", data::itk_snap_labels(segments_of(dataset_)));
  if (!how_.bids) return files;
  files.emplace_back(folder_ / data::bids_description_file,
                     data::bids_description("Predictions", "voxswap", how_.version));
  files.emplace_back(folder_ / "dseg.tsv", data::bids_labels(dataset_.labels));
  files.emplace_back(folder_ / ".bidsignore", "prediction.json\ngroup_volumes.tsv\n**/.voxswap\n");
  return files;
}

void Claims::add(const std::string& id) {
  const fs::path file = folder_.label_map(id);
  std::string owner = owners_.try_emplace(file.string(), id).first->second;
  if (owner == id) owner = record_.other_owner(file, id);
  if (!owner.empty())
    fail(Exit::bad_data, "{}: {} is the label map of case {}. Rename one of them", id, file.string(), owner);
}

std::vector<data::Segment> segments_of(const data::Dataset& dataset) {
  std::vector<data::Segment> segments;
  std::size_t next = dataset.regions.size();
  for (const auto& [name, value] : dataset.labels) {
    const auto same = std::find_if(dataset.regions.begin(), dataset.regions.end(), [&](const auto& region) {
      return region.second == std::vector<int>{value};
    });
    const auto place = static_cast<std::size_t>(same - dataset.regions.begin());
    segments.push_back({name, value, palette_color(place < dataset.regions.size() ? place : next++)});
  }
  return segments;
}

}  // namespace voxswap::pipeline
