// voxswap predict: label maps for cases that the network has not seen.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "base/filesystem.h"
#include "cli/options.h"
#include "cli/run_folder.h"
#include "pipeline/predict/new_scans.h"

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
  const std::vector<std::string> allowed{"data.layout", "data.files", "data.modalities", "data.align"};
  for (const std::string& one : overrides) {
    if (std::none_of(allowed.begin(), allowed.end(), [&](const std::string& key) {
          return one.starts_with(key + "=") || one.starts_with(key + ".");
        }))
      fail(Exit::usage,
           "{}: predict takes {} of an experiment; everything else was decided by the run, and where "
           "the scans lie is --input",
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

}  // namespace

Exit predict_command(const Arguments& arguments) {
  CLI::App app(
      "Label maps for new cases with a finished run's weights, on each case's own grid. Reads no truth.",
      "voxswap predict");
  CommonOptions common;
  pipeline::PredictOptions how;
  std::string folder, input, out, window, largest;
  std::vector<std::string> overrides;
  app.add_option("RUN_DIR", folder, "the folder of a finished run")->required();
  app.add_option(
      "key=value", overrides,
      "how the new scans lie there: data.layout, data.files, data.align, and data.modalities, what the "
      "network's channels are called there, in its order");
  app.add_option("--input", input, "a data set, a case's folder, or a 4D file")->required();
  app.add_option("--out", out, "folder for CASE.nii.gz")->required();
  app.add_flag(
      "--tta", how.mirror,
      "average over the ways to mirror the input along the axes that training mirrored, and only those; for "
      "all three eight times as long");
  app.add_flag("--ensemble", how.ensemble,
               "average over the run's repeats; without it each repeat has a folder of its own");
  app.add_option(
      "--window", window,
      "what the network sees at a time: whole, N or X,Y,Z voxels of the prepared volume; by default "
      "what it was trained on");
  app.add_option("--overlap", how.overlap, "of windows, as a part of them")
      ->check(CLI::Range(0.0, 0.9))
      ->capture_default_str();
  app.add_option("--keep-largest", largest,
                 "regions of which only the largest connected part stays: all, or names with commas between");
  app.add_flag("--probabilities", how.probabilities,
               "also write probabilities/CASE_OUTPUT.nii.gz, for every output of the network");
  app.add_flag(
      "--segmentations", how.segmentations,
      "also write CASE.seg.nrrd, which 3D Slicer opens with names and colours, and itksnap_labels.txt");
  app.add_flag(
      "--dicom-seg", how.dicom_segmentations,
      "of DICOM series: also write CASE.seg.dcm, a segmentation object on the first channel's series");
  app.add_flag("--bids", how.bids,
               "a BIDS derivative: sub-X/anat/sub-X_desc-voxswap_dseg.nii.gz, probabilities as _probseg, "
               "dataset_description.json, dseg.tsv");
  app.add_flag(
      "--raw-weights", how.raw_weights,
      "of a run that averaged its weights (training.averaging): with those of the best epoch itself");
  add_force(app, how.force);
  add_common(app, common);
  if (!parse(app, arguments, common)) return Exit::done;

  how.version = VOXSWAP_VERSION;
  parse_window(window, how);
  if (!largest.empty()) how.largest = split(largest, ',');
  const pipeline::RunOptions run = run_for(folder, overrides);
  const auto lock = lock_output(out);
  pipeline::predict(run, input, out, how);
  std::printf("%s\n", out.c_str());
  return Exit::done;
}

}  // namespace voxswap::cli
