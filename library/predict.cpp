#include "voxswap/predict.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/temporary_file.h"
#include "base/text.h"
#include "data/volumes/orientation.h"
#include "experiments/experiment.h"
#include "experiments/nnunet_results.h"
#include "library/models.h"
#include "library/run_folder.h"
#include "pipeline/predict/new_scans.h"
#include "pipeline/predict/postprocessing.h"
#include "pipeline/predict/prediction_forecast.h"
#include "pipeline/report/lists.h"
#include "pipeline/report/read_runs.h"

namespace voxswap {

namespace {

// A run with the one before it in a cascade, within the same memory.
pipeline::TrainedRun with_previous(const std::string& folder, const experiments::LoadedExperiment& run) {
  pipeline::TrainedRun result{run, run.settings};
  if (!run.preprocess.cascade) return result;
  const std::string previous = (fs::path(folder) / pipeline::previous_stage).string();
  experiments::LoadedExperiment earlier = experiments::load_run(previous);
  earlier.memory = run.memory;
  result.previous.push_back(with_previous(previous, earlier));
  return result;
}

// A run for prediction. Only overrides that describe the new images and the memory are allowed.
pipeline::TrainedRun run_for(const std::string& folder, std::vector<std::string> overrides) {
  experiments::LoadedExperiment run = experiments::load_run(folder);
  if (overrides.empty()) return with_previous(folder, run);
  const auto given = [&](const std::string& key) {
    return std::any_of(overrides.begin(), overrides.end(), [&](const std::string& one) {
      return one.starts_with(key + "=") || one.starts_with(key + ".");
    });
  };
  const std::vector<std::string> allowed{
      "data.layout",   "data.files",  "data.modalities", "data.align", "data.missing_modalities",
      "memory.budget", "memory.host", "memory.disk"};
  for (const std::string& one : overrides) {
    if (std::none_of(allowed.begin(), allowed.end(), [&](const std::string& key) {
          return one.starts_with(key + "=") || one.starts_with(key + ".");
        }))
      fail(Exit::usage,
           "{}: predict accepts only the keys {} of an experiment. The run sets all others, and --input is "
           "the folder of the images",
           one, join(allowed, ", "));
  }
  const bool modalities = given("data.modalities");
  if (given("data.files") && !given("data.layout")) overrides.insert(overrides.begin(), "data.layout=auto");
  if (given("data.layout") && !given("data.files")) overrides.insert(overrides.begin(), "data.files={}");
  experiments::LoadedExperiment asked =
      experiments::load_experiment(fs::path(folder) / "experiment.yaml", overrides);
  if (!modalities) asked.data.modalities = run.data.modalities;
  run.data = std::move(asked.data);
  run.memory = asked.memory;
  return with_previous(folder, run);
}

// The runs in a sweep's folder, one per trained cell that the sweep did not stop; for a run's folder, the run
// itself.
std::vector<std::string> runs_in(const std::string& folder) {
  std::vector<std::string> runs, unfinished;
  for (const fs::path& cell : library::cells_in(folder)) {
    if (!pipeline::stop_of(cell).empty()) continue;
    const bool is_done = fs::exists(cell / "experiment.yaml") && fs::exists(cell / "dice.csv");
    (is_done ? runs : unfinished).push_back(cell.string());
  }
  if (!unfinished.empty())
    fail(Exit::bad_data,
         "{}: {} of its cells are not finished runs (the first is {}). Complete the sweep first", folder,
         unfinished.size(), unfinished.front());
  if (runs.empty()) return {folder};  // errors are reported when the run is read
  std::vector<std::string> names;
  for (const std::string& run : runs) names.push_back(fs::path(run).filename().string());
  if (runs.size() > 1)
    log::info("{}: the mean of {}: {}", folder, counted(runs.size(), "run"), pipeline::listed(names, 8));
  return runs;
}

// Location of the post-processing steps: for one run its folder, for several that of their sweep.
fs::path postprocessing_of(const std::vector<std::string>& folders, const std::vector<std::string>& runs,
                           const std::string& asked) {
  if (asked == "none") return {};
  if (!asked.empty()) return asked;
  std::set<fs::path> places;
  for (const std::string& run : runs)
    places.insert(runs.size() == 1 ? fs::path(run) : plain(fs::absolute(run)).parent_path());
  if (folders.size() == 1) places = {fs::path(folders.front())};
  const fs::path file = *places.begin() / pipeline::postprocessing_file;
  return places.size() == 1 && fs::exists(file) ? file : fs::path();
}

// Finished runs and prediction options.
struct Predicting {
  std::vector<pipeline::TrainedRun> runs;
  pipeline::PredictOptions how;
};

Predicting predicting(const std::vector<std::string>& given, const PredictOptions& options,
                      const std::vector<std::string>& overrides) {
  if (given.empty()) fail(Exit::usage, "no run was given to predict with");
  if (!(options.overlap >= 0 && options.overlap <= 0.9))
    fail(Exit::usage, "overlap: expected 0 to 0.9, found {}", number(options.overlap));
  std::vector<std::string> folders, runs;
  for (const std::string& one : given) folders.push_back(library::run_or_model(one, options.models).string());
  for (const std::string& folder : folders)
    for (std::string& run : runs_in(folder)) runs.push_back(std::move(run));
  Predicting result{{}, {options, VOXSWAP_VERSION}};
  result.how.postprocessing = postprocessing_of(folders, runs, options.postprocessing).string();
  for (const std::string& run : runs) result.runs.push_back(run_for(run, overrides));
  return result;
}

}  // namespace

void predict(const std::vector<std::string>& folders, const std::string& input, const std::string& out,
             const PredictOptions& options, const std::vector<std::string>& overrides) {
  const Predicting how = predicting(folders, options, overrides);
  const auto lock = library::lock_output(out, /*patient=*/options.bids);
  pipeline::predict(how.runs, input, out, how.how);
}

void predict_arriving(const std::vector<std::string>& folders, const std::string& watched,
                      const std::string& out, const PredictOptions& options,
                      const std::vector<std::string>& overrides, double settle_seconds) {
  const Predicting how = predicting(folders, options, overrides);
  const auto lock = library::lock_output(out);
  pipeline::predict_arriving(how.runs, watched, out, how.how,
                             std::chrono::milliseconds(std::llround(1000 * settle_seconds)));
}

PredictionForecast forecast_prediction(const std::vector<std::string>& folders, const std::string& input,
                                       const PredictOptions& options,
                                       const std::vector<std::string>& overrides) {
  const Predicting how = predicting(folders, options, overrides);
  return pipeline::forecast_prediction(how.runs, input, how.how);
}

struct Network::State {
  pipeline::MemoryPredictor predictor;
  std::mutex in_use{};  // by one thread at a time
};

namespace {

// Runs made of results folders of nnU-Net, until their weights are in memory. They are in the folder of a
// temporary file, with which they are removed, also after a kill (base/part_files.h).
class TemporaryRuns {
 public:
  // The folder of a run: that of a new one, or `given` itself.
  std::string of(const std::string& given) {
    if (!experiments::is_nnunet_results(given)) return given;
    if (!file_) file_.emplace(fs::temp_directory_path() / "voxswap.import", true);
    const fs::path folder = file_->path().parent_path(), run = folder / std::to_string(++count_);
    fs::permissions(folder, fs::owner_all);
    experiments::import_nnunet_results(given, run);
    return run.string();
  }

 private:
  std::optional<TemporaryFile> file_;
  int count_ = 0;
};

}  // namespace

Network::Network(const std::vector<std::string>& given, const PredictOptions& options,
                 const std::vector<std::string>& overrides) {
  TemporaryRuns imported;
  std::vector<std::string> runs;
  for (const std::string& one : given) runs.push_back(imported.of(one));
  const Predicting how = predicting(runs, options, overrides);
  state_.reset(new State{{how.runs, how.how}});
}

Network::~Network() = default;
Network::Network(Network&&) noexcept = default;
Network& Network::operator=(Network&&) noexcept = default;

const std::vector<std::string>& Network::channels() const {
  return state_->predictor.dataset().modalities;
}

const std::vector<std::pair<std::string, int>>& Network::labels() const {
  return state_->predictor.dataset().labels;
}

const std::vector<std::string>& Network::outputs() const {
  return state_->predictor.outputs();
}

namespace {

pipeline::MemoryPredictor::Result predicted(pipeline::MemoryPredictor& predictor, const ImageView& image) {
  const std::vector<std::string>& modalities = predictor.dataset().modalities;
  if (image.channels != static_cast<std::int64_t>(modalities.size()))
    fail(Exit::bad_data, "the image has {}, but the network takes {}: {}", counted(image.channels, "channel"),
         modalities.size(), join(modalities, ", "));
  data::Affine lps =
      image.affine;  // NIfTI's axes point right and anterior, those of data::Affine left and posterior
  for (std::size_t i = 0; i < 8; ++i) lps[i] = -lps[i];
  const data::Geometry stored = data::geometry_from("the image", lps, image.size);
  data::Volume volume;
  volume.id = "image";
  volume.file_geometry = stored;
  for (std::int64_t c = 0; c < image.channels; ++c) {
    const float* const first = image.voxels + c * stored.count();
    volume.channels.push_back(data::canonical(data::Image{stored, {first, first + stored.count()}}));
  }
  return predictor.predict(volume);
}

}  // namespace

LabelledImage Network::predict(const ImageView& image) {
  const std::lock_guard lock(state_->in_use);
  pipeline::MemoryPredictor::Result found = predicted(state_->predictor, image);
  LabelledImage result{std::move(found.labels.voxels), {}};
  result.probabilities.reserve(found.probabilities.size() * result.labels.size());
  for (const data::Image& probability : found.probabilities)
    result.probabilities.insert(result.probabilities.end(), probability.voxels.begin(),
                                probability.voxels.end());
  return result;
}

void Network::predict(const ImageView& image, std::int16_t* labels, float* probabilities) {
  const std::lock_guard lock(state_->in_use);
  const pipeline::MemoryPredictor::Result found = predicted(state_->predictor, image);
  std::copy(found.labels.voxels.begin(), found.labels.voxels.end(), labels);
  if (probabilities == nullptr) return;
  for (const data::Image& probability : found.probabilities)
    probabilities = std::copy(probability.voxels.begin(), probability.voxels.end(), probabilities);
}

}  // namespace voxswap
