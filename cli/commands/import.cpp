// voxswap import: imports weights of another program as a run.
#include <CLI/CLI.hpp>

#include "base/file.h"
#include "base/standard_streams.h"
#include "cli/options.h"
#include "experiments/experiment.h"
#include "library/run_folder.h"
#include "pipeline/export/import_run.h"

namespace voxswap::cli {

Exit import_command(const Arguments& arguments) {
  CLI::App app(
      "Import weights that another program trained for the network of a finished run, as a new run for "
      "`voxswap predict`.",
      "voxswap import");
  CommonOptions common;
  std::string file, folder, out;
  std::int64_t repeat = 1;
  app.add_option("WEIGHTS", file, "Weights in a .safetensors file: all parameters of the network")
      ->required();
  app.add_option("--run", folder, "Folder of the finished run with the same network")->required();
  app.add_option("--out", out, "Folder of the new run")->required();
  app.add_option("--repeat", repeat, "Repeat whose weights are replaced, counted from 1")
      ->capture_default_str();
  add_common(app, common);
  if (!parse(app, arguments, common)) return Exit::done;

  const experiments::LoadedExperiment run = experiments::load_run(folder);
  const auto lock = library::lock_run(out);
  pipeline::import_run({run, run.settings}, repeat, file, out);
  print("{}\n", out);
  return Exit::done;
}

}  // namespace voxswap::cli
