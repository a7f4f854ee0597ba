// voxswap completion: a script for the shell.
#include "cli/completion.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/options.h"

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
  std::fputs(completion_script(shell).c_str(), stdout);
  return Exit::done;
}

}  // namespace voxswap::cli
