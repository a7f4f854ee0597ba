#include "pipeline/predict/prediction_record.h"

#include <algorithm>

#include "base/counts.h"
#include "base/error.h"
#include "base/file.h"
#include "base/filesystem.h"
#include "base/json.h"
#include "base/log.h"
#include "pipeline/cases/patches.h"
#include "pipeline/predict/ensemble.h"
#include "pipeline/record/run_folder.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

namespace {

constexpr const char* file_name = "prediction.json";

// What was learnt, by the files that hold it.
Json weights_of(const std::vector<RunOptions>& runs, const PredictOptions& how) {
  Json weights = Json::array();
  for (const Member& member : members_of(runs)) {
    const fs::path file = predicting_file(*member.run, member.repeat, how.raw_weights);
    if (fs::exists(file)) weights.push_back(Hasher().add_file(file).digest());
  }
  return weights;
}

Json description(const std::vector<RunOptions>& runs, const fs::path& input, const PredictOptions& how,
                 const PredictionRecord::Missing& missing) {
  RunOptions seen = runs.front();  // what the network saw at a time
  if (how.whole) seen.training.patch.reset();
  if (how.window) seen.training.patch = how.window;
  Json json = {{"voxswap", how.version},
               {"run", plain(fs::absolute(seen.output)).string()},
               {"weights", weights_of(runs, how)},
               {"input", plain(fs::absolute(input)).string()},
               {"tta", how.mirror},
               {"ensemble", how.ensemble || runs.size() > 1},
               {"window", resolution_text(input_size(seen))},
               {"overlap", how.overlap},
               {"keep_largest", how.largest},
               {"probabilities", how.probabilities}};
  if (!how.postprocessing.empty())
    json["postprocessing"] = Json::parse(read_file(how.postprocessing)).at("steps");
  if (!missing.empty()) json["missing_modalities"] = missing;
  for (const RunOptions& run : runs)
    if (runs.size() > 1) json["runs"].push_back(plain(fs::absolute(run.output)).string());
  return json;
}

// Whether two predictions differ in more than where their scans lay and what those lack.
bool differ(const std::string& one, const std::string& other) {
  Json a = Json::parse(one), b = Json::parse(other);
  for (Json* json : {&a, &b}) {
    json->erase("input");
    json->erase("missing_modalities");
  }
  return a != b;
}

// A record tells of files beside it; nothing else is ever removed on its word.
bool lies_beside(const fs::path& file) {
  const fs::path normal = plain(file);
  return normal.is_relative() && !normal.empty() && *normal.begin() != "..";
}

}  // namespace

PredictionRecord::PredictionRecord(fs::path folder, const std::vector<RunOptions>& runs,
                                   const fs::path& input, const PredictOptions& how, const Missing& missing)
    : folder_(std::move(folder)), now_{description(runs, input, how, missing).dump(), {}} {
  if (fs::exists(folder_ / file_name)) read();
}

PredictionRecord::~PredictionRecord() {
  try {
    finish();
  } catch (const std::exception& error) {
    try {
      log::warn("{}", error.what());
    } catch (const std::exception&) {  // no memory for a message either; what ended the prediction is told
    }
  }
}

void PredictionRecord::read() {
  const fs::path file = folder_ / file_name;
  bool sound = true;
  try {
    const Json record = Json::parse(read_file(file));
    for (Json entry : record.at("predictions")) {
      Prediction prediction;
      prediction.files = entry.at("cases").get<decltype(prediction.files)>();
      entry.erase("cases");
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
}

void PredictionRecord::finish() {
  if (finished_ || now_.files.empty()) return;
  finished_ = true;
  for (Prediction& former : former_) {
    for (const auto& [id, files] : now_.files) {
      const auto before = former.files.extract(id);
      if (before.empty()) continue;
      for (const std::string& file : before.mapped()) {
        if (files.contains(file)) continue;
        log::debug("{}: removed, because an earlier prediction wrote it", (folder_ / file).string());
        fs::remove(folder_ / file);
      }
    }
  }
  std::erase_if(former_, [](const Prediction& former) { return former.files.empty(); });
  write();
}

void PredictionRecord::write() const {
  Json predictions = Json::array();
  std::size_t others = 0;
  const auto add = [&](const Prediction& prediction) {
    Json entry = Json::parse(prediction.made_with);
    entry["cases"] = prediction.files;
    predictions.push_back(std::move(entry));
  };
  for (const Prediction& former : former_) {
    add(former);
    if (differ(former.made_with, now_.made_with)) others += former.files.size();
  }
  add(now_);
  write_file(folder_ / file_name, Json{{"predictions", predictions}}.dump(2) + "\n");
  if (others > 0)
    log::warn("{}: also contains {} predicted with other options. See {}", folder_.string(),
              counted(others, "other case"), file_name);
}

}  // namespace voxswap::pipeline
