// voxswap schema: the schema of the experiment file, for editors.
#include "experiments/schema.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/options.h"

namespace voxswap::cli {

Exit schema_command(const Arguments& arguments) {
  CLI::App app(
      "Print a JSON Schema (draft 7) of the experiment file. Editors use it to complete and check files that "
      "begin with `# yaml-language-server: $schema=FILE`.",
      "voxswap schema");
  CommonOptions common;
  add_common(app, common);
  if (!parse(app, arguments, common)) return Exit::done;
  std::printf("%s\n", experiments::schema().dump(2).c_str());
  return Exit::done;
}

}  // namespace voxswap::cli
