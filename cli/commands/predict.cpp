// voxswap predict: label maps of new cases.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <set>

#include "base/filesystem.h"
#include "cli/options.h"
#include "cli/run_folder.h"
#include "experiments/experiment.h"
#include "pipeline/predict/new_scans.h"
#include "pipeline/predict/postprocessing.h"

namespace voxswap::cli {

namespace {

void parse_window(const std::string& text, pipeline::PredictOptions& how) {
  if (text.empty()) return;
  how.whole = text == "whole";
  if (!how.whole) how.window = parse_size("--window", text, 1, 65536);
}

// The run as it is to be used: how the new scans lie there may be said anew, what the network is may not.
pipeline::RunOptions run_for(const std::string& folder, std::vector<std::string> overrides) {
  pipeline::RunOptions run = experiments::load_run(folder).run;
  if (overrides.empty()) return run;
  const auto given = [&](const std::string& key) {
    return std::any_of(overrides.begin(), overrides.end(), [&](const std::string& one) {
      return one.starts_with(key + "=") || one.starts_with(key + ".");
    });
  };
  const std::vector<std::string> allowed{"data.layout", "data.files", "data.modalities", "data.align",
                                         "data.missing_modalities"};
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
  data::DatasetOptions data =
      experiments::load_experiment(fs::path(folder) / "experiment.yaml", overrides).run.data;
  if (!modalities) data.modalities = run.data.modalities;
  run.data = std::move(data);
  return run;
}

// The runs in a sweep's folder, one for each cell that trained; of a run's own folder, that one.
std::vector<std::string> runs_in(const std::string& folder) {
  if (fs::exists(fs::path(folder) / "experiment.yaml") || !fs::is_directory(folder)) return {folder};
  std::vector<std::string> runs, unfinished;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!fs::exists(entry.path() / experiments::cell_file)) continue;
    const bool is_done =
        fs::exists(entry.path() / "experiment.yaml") && fs::exists(entry.path() / "dice.csv");
    (is_done ? runs : unfinished).push_back(entry.path().string());
  }
  std::sort(runs.begin(), runs.end());
  if (!unfinished.empty())
    fail(Exit::bad_data,
         "{}: {} of its cells are not finished runs (the first is {}). Complete the sweep first", folder,
         unfinished.size(), unfinished.front());
  if (runs.empty()) return {folder};  // what is missing of a run is told there
  return runs;
}

// Where it stands what is done to label maps: of a run in its folder, of several in that of their sweep.
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

}  // namespace

Exit predict_command(const Arguments& arguments) {
  CLI::App app("Predict label maps of new cases with a finished run, on each case's own grid.",
               "voxswap predict");
  CommonOptions common;
  pipeline::PredictOptions how;
  std::string input, out, window, largest, postprocessing;
  std::vector<std::string> folders, overrides;
  app.validate_positionals();
  app.add_option("RUN_DIR", folders, "Folder of a finished run or sweep; several are averaged")
      ->required()
      ->check(CLI::Validator(
          [](std::string& text) {
            return text.find('=') == text.npos ? "" : "expected a folder, found " + text;
          },
          ""));
  app.add_option(
      "key=value", overrides,
      "data.* keys that describe the new images; data.modalities: the network's channels, in order");
  app.add_option("--input", input, "Data set, folder of a case, or 4D file")->required();
  app.add_option("--out", out, "Folder for the label maps")->required();
  app.add_flag("--tta", how.mirror, "Average over mirrored inputs (up to 8 times as long)");
  app.add_flag("--ensemble", how.ensemble, "Average over the run's repeats instead of a folder for each");
  app.add_option("--window", window, "Window size in voxels: whole, N or X,Y,Z (default: as in training)");
  app.add_option("--overlap", how.overlap, "Overlap of windows, as a fraction")
      ->check(CLI::Range(0.0, 0.9))
      ->capture_default_str();
  app.add_option("--postprocessing", postprocessing,
                 "File with post-processing steps, or none (default: postprocessing.json of the run)");
  app.add_option("--keep-largest", largest,
                 "Keep only the largest component of these regions: all, or a comma-separated list");
  app.add_flag("--probabilities", how.probabilities, "Also write probabilities, one file per output");
  app.add_flag("--segmentations", how.segmentations,
               "Also write CASE.seg.nrrd for 3D Slicer and labels for ITK-SNAP");
  app.add_flag("--dicom-seg", how.dicom_segmentations,
               "Also write DICOM segmentation objects (DICOM input only)");
  app.add_flag("--bids", how.bids, "Write a BIDS derivative");
  app.add_flag("--raw-weights", how.raw_weights, "Use the weights of the best epoch, not the averaged ones");
  add_force(app, how.force);
  add_common(app, common);
  if (!parse(app, arguments, common)) return Exit::done;

  how.version = VOXSWAP_VERSION;
  parse_window(window, how);
  if (!largest.empty()) how.largest = split(largest, ',');
  std::vector<std::string> runs;
  for (const std::string& folder : folders)
    for (std::string& run : runs_in(folder)) runs.push_back(std::move(run));
  how.postprocessing = postprocessing_of(folders, runs, postprocessing);
  std::vector<pipeline::RunOptions> members;
  for (const std::string& run : runs) members.push_back(run_for(run, overrides));
  const auto lock = lock_output(out);
  pipeline::predict(members, input, out, how);
  std::printf("%s\n", out.c_str());
  return Exit::done;
}

}  // namespace voxswap::cli
