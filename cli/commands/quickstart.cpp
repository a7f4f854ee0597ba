// voxswap quickstart: creates phantoms and an experiment for them, trains a network and writes its report.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/file.h"
#include "base/standard_streams.h"
#include "cli/commands.h"
#include "cli/options.h"

namespace voxswap::cli {

Exit quickstart_command(const Arguments& words) {
  CLI::App app("Create phantoms, choose an experiment for them, train a network and write its report.",
               "voxswap quickstart");
  CommonOptions common;
  std::string folder = "voxswap-quickstart";
  double minutes = 3;
  app.add_option("FOLDER", folder, "Folder for data and results")->capture_default_str();
  app.add_option("--minutes", minutes, "Time limit of training in minutes")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 1e4));
  add_common(app, common);
  if (!parse(app, words, common)) return Exit::done;

  const auto path = [&](const char* name) { return (fs::path(folder) / name).string(); };
  const std::string data = path("data"), experiment = path("experiment.yaml"), run = path("run");
  const auto step = [](const Arguments& command, Exit (*run_it)(const Arguments&)) {
    std::string line = "$ voxswap";
    for (const std::string& word : command) line += " " + word;
    print("\n{}\n", line);
    std::fflush(stdout);
    const Exit exit = run_it({command.begin() + 1, command.end()});
    if (exit != Exit::done) throw Error(exit, format("voxswap {} did not succeed", command.front()));
  };
  if (!fs::exists(data))
    step({"phantom", "--out", data, "--cases", "16", "--size", "48", "--seed", "1"}, phantom_command);
  if (!fs::exists(experiment))
    step({"configure", data, "--out", experiment, "--hours", format("{:.4f}", minutes / 60), "--folds", "4",
          "name=quickstart", "output.dir=" + run, "data.cache=" + path("cache")},
         configure_command);
  step({"run", experiment, "--resume"}, run_command);
  print("\nReport: {} (open it in a browser)\nNext:   voxswap configure YOUR_DATA\n",
        (fs::path(run) / "report.html").string());
  return Exit::done;
}

}  // namespace voxswap::cli
