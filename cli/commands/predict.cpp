// voxswap predict: predicts label maps of new cases.
#include "voxswap/predict.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/standard_streams.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/options.h"
#include "cli/slicer.h"
#include "data/formats/formats.h"

namespace voxswap::cli {

namespace {

void parse_window(const std::string& text, PredictOptions& how) {
  if (text.empty()) return;
  how.whole = text == "whole";
  if (!how.whole) how.window = parse_size("--window", text, 1, 65536);
}

void add_prediction_options(CLI::App& app, PredictOptions& how, std::string& window, std::string& largest) {
  app.add_flag("--tta", how.mirror, "Average over mirrored inputs (up to 8 times slower)");
  app.add_flag("--ensemble", how.ensemble, "Average over the run's repeats instead of a folder for each");
  app.add_option("--window", window, "Window size in voxels: whole, N or X,Y,Z (default: as in training)");
  app.add_option("--overlap", how.overlap, "Overlap of windows, as a fraction")
      ->check(CLI::Range(0.0, 0.9))
      ->capture_default_str();
  app.add_option("--postprocessing", how.postprocessing,
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
}

bool names_label_map(const std::string& out) {
  error_code ignored;
  const data::ImageExtension* const extension = data::image_extension(out);
  if ((extension == nullptr && !data::is_raster(out)) || fs::is_directory(out, ignored)) return false;
  if (extension == nullptr ? !data::has_extension(out, {".png"}) : !extension->written)
    fail(Exit::usage, "--out: {}: label maps are written as {}, and those of 2D images as .png", out,
         data::image_extensions_text([](const data::ImageExtension& one) { return one.written; }));
  return true;
}

// Rejects options that need a folder.
void check_for_one_image(const PredictOptions& how, const std::vector<std::string>& overrides,
                         const std::string& label_map) {
  const bool any_of_data = std::any_of(overrides.begin(), overrides.end(),
                                       [](const std::string& one) { return one.starts_with("data."); });
  for (const auto& [asked, name] : {std::pair{how.probabilities, "--probabilities"},
                                    {how.segmentations, "--segmentations"},
                                    {how.dicom_segmentations, "--dicom-seg"},
                                    {how.bids, "--bids"},
                                    {any_of_data, "data.*"}})
    if (asked)
      fail(Exit::usage, "{}: needs a folder, but {} is one file. Use --out DIR, or leave {} out", name,
           label_map, name);
}

std::string prediction_table(const PredictionForecast& forecast) {
  std::vector<std::vector<std::string>> rows = {
      {"cases", std::to_string(forecast.cases)},
      {"networks", std::to_string(forecast.networks)},
      {"memory of the networks", format_bytes(forecast.device_bytes)},
      {"further host memory", format_bytes(forecast.host_bytes)}};
  if (forecast.disk_bytes > 0) rows.push_back({"scratch file", format_bytes(forecast.disk_bytes)});
  rows.push_back({"passes per case", std::to_string(forecast.passes)});
  rows.push_back({"time per case", format_seconds(forecast.case_seconds)});
  return table(rows);
}

}  // namespace

Exit predict_command(const Arguments& arguments) {
  if (arguments == Arguments{"--xml"}) {  // handled before other arguments are required
    print(slicer_description());
    return Exit::done;
  }
  CLI::App app("Predict label maps of new cases with a finished run, on each case's own grid.",
               "voxswap predict");
  CommonOptions common;
  PredictOptions how;
  std::string input, watched, out, label_map, window, largest;
  double settle = 10;
  bool slicer_progress = false, xml = false, dry_run = false;
  std::vector<std::string> folders, overrides;
  app.validate_positionals();
  app.add_option("RUN_DIR", folders,
                 "Folder of a finished run or sweep, or name of a model; several are averaged")
      ->required()
      ->check(CLI::Validator(
          [](std::string& text) {
            return text.find('=') == text.npos ? "" : "expected a folder or a model, found " + text;
          },
          ""));
  app.add_option("key=value", overrides,
                 "data.* keys that describe the new images, and memory.budget, memory.host, memory.disk");
  app.add_flag("--dry-run", dry_run, "Print memory and time of the prediction, without predicting");
  auto* const data = app.add_option("--input", input, "Data set, folder of a case, or 4D file");
  app.add_option("--watch", watched, "Folder in which to predict cases as they arrive, until Ctrl-C")
      ->excludes(data);
  app.add_option("--settle", settle, "Seconds without change after which a watched case is complete")
      ->check(CLI::Range(0.1, 86400.0))
      ->capture_default_str();
  auto* const folder =
      app.add_option("--out", out, "Folder for the label maps, or a file for that of a single image");
  app.add_option("--label-map,--label_map", label_map, "The same as --out with a file")->excludes(folder);
  app.add_option("--models", how.models, "Folder of the models (default: ~/.local/share/voxswap/models)");
  app.add_flag("--slicer-progress,--slicer_progress", slicer_progress,
               "Print progress for 3D Slicer, and warnings only (with --label-map)");
  app.add_flag("--xml", xml, "Print the parameters for 3D Slicer as XML (no other arguments)");
  add_prediction_options(app, how, window, largest);
  add_force(app, how.force);
  add_common(app, common);
  if (!parse(app, arguments, common)) return Exit::done;

  if (slicer_progress) {  // Slicer shows everything on stderr as errors
    log::set_level(log::Level::warning);
    set_quiet(true);
  }
  parse_window(window, how);
  if (!largest.empty()) how.largest = split(largest, ',');
  if (xml) fail(Exit::usage, "--xml: takes no other arguments");
  if (input.empty() && watched.empty()) fail(Exit::usage, "--input or --watch is required");
  if (!watched.empty()) {
    if (dry_run) fail(Exit::usage, "--dry-run: needs --input");
    if (out.empty() || names_label_map(out))
      fail(Exit::usage, "--watch: needs a folder for the label maps. Use --out DIR");
    predict_arriving(folders, watched, out, how, overrides, settle);
    return Exit::done;
  }
  if (dry_run) {
    print(prediction_table(forecast_prediction(folders, input, how, overrides)));
    return Exit::done;
  }
  if (out.empty() && label_map.empty()) fail(Exit::usage, "--out or --label-map is required");
  if (names_label_map(out)) label_map = out;
  if (!label_map.empty()) {
    check_for_one_image(how, overrides, label_map);
    predict_image(folders, input, label_map, how, overrides, slicer_progress);
    return Exit::done;
  }
  predict(folders, input, out, how, overrides);
  print("{}\n", out);
  return Exit::done;
}

}  // namespace voxswap::cli
