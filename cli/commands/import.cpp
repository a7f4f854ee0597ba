// voxswap import: imports weights of another program, a results folder of nnU-Net, or a MONAI bundle, as a
// run.
#include <CLI/CLI.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/standard_streams.h"
#include "cli/options.h"
#include "experiments/experiment.h"
#include "experiments/nnunet_results.h"
#include "library/bundle.h"
#include "library/run_folder.h"
#include "pipeline/export/import_run.h"

namespace voxswap::cli {

Exit import_command(const Arguments& arguments) {
  CLI::App app(
      "Import a results folder of nnU-Net 2, a bundle of `voxswap export --to monai`, or weights that "
      "another program "
      "trained for the network of a finished run, as a new run for `voxswap predict`. Runs no code of the "
      "files.",
      "voxswap import");
  CommonOptions common;
  std::string file, folder, out;
  std::int64_t repeat = 1;
  app.add_option(
         "WEIGHTS", file,
         "nnU-Net's DatasetXXX_Name/Trainer__Plans__3d_fullres, a bundle, or a .safetensors or .pth file")
      ->required();
  app.add_option("--run", folder, "Folder of the finished run with the same network (for a file)");
  app.add_option("--out", out, "Folder of the new run")->required();
  app.add_option("--repeat", repeat, "Repeat whose weights are replaced, counted from 1")
      ->capture_default_str();
  add_common(app, common);
  if (!parse(app, arguments, common)) return Exit::done;

  error_code ignored;
  if (!fs::exists(file, ignored))
    fail(Exit::bad_data, "{}: {}", file,
         fs::path(file).has_extension() ? "no such file" : no_such_folder(file));
  const bool is_folder = fs::is_directory(file, ignored);
  if (is_folder && !folder.empty())
    fail(Exit::usage, "--run: {} is a folder that describes its network. Leave it out", file);
  if (is_folder) {
    const auto lock = library::lock_run(out);
    (library::is_bundle(file) ? library::import_bundle : experiments::import_nnunet_results)(file, out);
    print("{}\n", out);
    return Exit::done;
  }
  if (folder.empty())
    fail(Exit::usage,
         "--run: missing. For weights in a file, give the finished run with the same network. For nnU-Net, "
         "give its results folder instead of {}",
         file);
  const experiments::LoadedExperiment run = experiments::load_run(folder);
  const auto lock = library::lock_run(out);
  pipeline::import_run({run, run.settings}, repeat, file, out);
  print("{}\n", out);
  return Exit::done;
}

}  // namespace voxswap::cli
