// voxswap predict: label maps for cases that the network has not seen.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/options.h"
#include "pipeline/run.h"

namespace voxswap {

Exit predict_command(const Arguments& arguments) {
  CLI::App app(
      "Label maps for new cases with a finished run's weights, on each case's own grid. Reads no truth.",
      "voxswap predict");
  CommonOptions common;
  std::string folder, input, out;
  app.add_option("RUN_DIR", folder, "the folder of a finished run")->required();
  app.add_option("--input", input, "a data set, a case's folder, or a 4D file")->required();
  app.add_option("--out", out, "folder for CASE.nii.gz")->required();
  add_common(app, common);
  if (!parse(app, arguments, common)) return Exit::done;

  predict(load_run(folder).run, input, out);
  std::printf("%s\n", out.c_str());
  return Exit::done;
}

}  // namespace voxswap
