// voxswap completion, voxswap schema: completion scripts for shells, and the schema for editors.

#include <CLI/CLI.hpp>

#include "base/standard_streams.h"
#include "cli/options.h"
#include "cli/reference.h"
#include "experiments/schema.h"

namespace voxswap::cli {

Exit completion_command(const Arguments& arguments) {
  CLI::App app(
      "Print a shell completion script, for example for `source <(voxswap completion bash)` in ~/.bashrc.",
      "voxswap completion");
  CommonOptions common;
  std::string shell;
  app.add_option("SHELL", shell, "Shell: bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember(completed_shells()));
  add_common(app, common);
  if (!parse(app, arguments, common)) return Exit::done;
  print_exactly(completion_script(shell));
  return Exit::done;
}

// Schema of the experiment file for editors.
Exit schema_command(const Arguments& arguments) {
  CLI::App app(
      "Print a JSON Schema (draft 7) of the experiment file. Editors use it to complete and check files that "
      "begin with `# yaml-language-server: $schema=FILE`.",
      "voxswap schema");
  CommonOptions common;
  add_common(app, common);
  if (!parse(app, arguments, common)) return Exit::done;
  print_exactly(experiments::schema().dump(2) + "\n");
  return Exit::done;
}

}  // namespace voxswap::cli
