// voxswap predict: label maps for cases that the network has not seen.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/options.h"
#include "pipeline/run.h"

namespace voxswap {

namespace {

void parse_window(const std::string& text, PredictOptions& how) {
  if (text.empty()) return;
  how.whole = text == "whole";
  if (!how.whole) how.window = parse_size("--window", text, 1, 65536);
}

}  // namespace

Exit predict_command(const Arguments& arguments) {
  CLI::App app(
      "Label maps for new cases with a finished run's weights, on each case's own grid. Reads no truth.",
      "voxswap predict");
  CommonOptions common;
  PredictOptions how;
  std::string folder, input, out, window, largest;
  app.add_option("RUN_DIR", folder, "the folder of a finished run")->required();
  app.add_option("--input", input, "a data set, a case's folder, or a 4D file")->required();
  app.add_option("--out", out, "folder for CASE.nii.gz")->required();
  app.add_flag("--tta", how.mirror,
               "average over the eight ways to mirror the input; takes eight times as long");
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
  add_common(app, common);
  if (!parse(app, arguments, common)) return Exit::done;

  how.version = VOXSWAP_VERSION;
  parse_window(window, how);
  if (!largest.empty()) how.largest = split(largest, ',');
  predict(load_run(folder).run, input, out, how);
  std::printf("%s\n", out.c_str());
  return Exit::done;
}

}  // namespace voxswap
