// voxswap preview: draws prepared and augmented cases in one image before training.
#include "pipeline/cases/preview.h"

#include <CLI/CLI.hpp>

#include "base/file.h"
#include "base/outputs.h"
#include "base/standard_streams.h"
#include "base/text.h"
#include "cli/describe.h"
#include "cli/options.h"

namespace voxswap::cli {

namespace {

void check_picture(const fs::path& file) {
  if (lower(file.extension().string()) != ".png")
    fail(Exit::usage, "--out: {}: the image is a PNG. Name it {}", file.string(),
         fs::path(file).replace_extension(".png").string());
  check_output_file("--out", file);
}

}  // namespace

Exit preview_command(const Arguments& arguments) {
  CLI::App app("Write a PNG of prepared and augmented cases, with the ground truth as outlines.",
               "voxswap preview");
  CommonOptions common;
  ExperimentArguments where;
  pipeline::PreviewOptions what;
  std::string out;
  add_experiment(app, where);
  app.add_option("--out", out, "PNG file to write (default: NAME_preview.png)");
  app.add_option("--cases", what.cases, "Number of training cases (default: 3)")->check(CLI::Range(1, 100));
  app.add_option("--case", what.case_names, "Name of a case (repeatable)")->expected(1);
  app.add_option("--epochs", what.epochs, "Number of epochs (default: 5)")->check(CLI::Range(0, 100));
  bool force = false;
  add_force(app, force);
  add_common(app, common);
  if (!parse(app, arguments, common)) return Exit::done;

  const experiments::LoadedExperiment experiment = load(where);
  const std::string png = out.empty() ? experiment.name + "_preview.png" : out;
  Outputs outputs(force);
  outputs.protect(where.file);
  outputs.protect_below(experiment.data.root);
  outputs.check(png);
  check_picture(png);
  std::string caption;
  outputs.write(png, [&] { caption = pipeline::preview(experiment, what, png); });
  print("{}\n{}", png, caption);
  return Exit::done;
}

}  // namespace voxswap::cli
