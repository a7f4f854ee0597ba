// voxswap phantom: synthetic data for training and tests without patient data.
#include "data/phantoms/phantom.h"

#include <CLI/CLI.hpp>
#include <limits>

#include "base/standard_streams.h"
#include "cli/options.h"
#include "data/phantoms/phantom_layouts.h"

namespace voxswap::cli {

namespace {

std::string describe_layouts() {
  std::vector<std::vector<std::string>> rows = {{"layout", "files"}};
  for (const data::PhantomLayout& layout : data::phantom_layouts())
    rows.push_back({layout.name, layout.looks_like});
  return "\n" + table(rows);
}

}  // namespace

Exit phantom_command(const Arguments& arguments) {
  CLI::App app(
      "Create synthetic multimodal brain phantoms with nested tumours, in the layout of a real data set.",
      "voxswap phantom");
  CommonOptions common;
  data::PhantomOptions options;
  std::string out, size = "64";
  app.add_option("--out", out, "Folder of the data set")->required();
  app.add_option("--cases", options.cases, "Number of cases")->capture_default_str();
  app.add_option("--size", size, "Size in voxels: X or X,Y,Z")->capture_default_str();
  app.add_option("--seed", options.seed, "Seed of the phantoms")
      ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()))
      ->capture_default_str();
  app.add_option("--layout", options.layout, "Layout on disk, see below")->capture_default_str();
  add_common(app, common);
  app.footer(describe_layouts());
  if (!parse(app, arguments, common)) return Exit::done;

  options.out = out;
  options.size = parse_size("--size", size, 16, 1024);
  if (options.cases < 1 || options.cases > 100000)
    fail(Exit::usage, "--cases: expected 1 to 100000, found {}", options.cases);
  data::phantom_layout(options.layout);  // throws for unknown layouts
  const bool written = data::write_phantoms(options);
  print("{}: {}{}\n", out, counted(options.cases, "phantom"), written ? "" : ", existing");
  return Exit::done;
}

}  // namespace voxswap::cli
