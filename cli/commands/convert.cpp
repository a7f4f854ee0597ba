// voxswap convert: converts a data set of any layout to that of nnU-Net.
#include <CLI/CLI.hpp>

#include "base/outputs.h"
#include "base/standard_streams.h"
#include "cli/options.h"
#include "data/cases/nnunet_writing.h"
#include "data/layouts/open_dataset.h"
#include "library/run_folder.h"

namespace voxswap::cli {

namespace {

// `path`: a folder, or an experiment file that defines its data.
data::DatasetOptions data_of(const std::string& path, const std::string& layout) {
  data::DatasetOptions options;
  if (ends_with(lower(path), ".yaml") || ends_with(lower(path), ".yml")) {
    if (!layout.empty()) fail(Exit::usage, "{}: --layout comes from the experiment", path);
    return experiments::load_experiment(path, {}).data;
  }
  options.root = path;
  if (!layout.empty()) options.layout = layout;
  return options;
}

}  // namespace

Exit convert_command(const Arguments& arguments) {
  CLI::App app("Convert a data set of any layout to nnU-Net's. Cases without ground truth go to imagesTs.",
               "voxswap convert");
  CommonOptions common;
  std::string path, layout, out, to = "nnunet";
  bool as_regions = false, force = false;
  app.add_option("DATASET", path, "Folder of a data set, or an experiment file")->required();
  app.add_option("--out", out, "Folder to write to, e.g. nnUNet_raw/Dataset501_Tumours")->required();
  app.add_option("--to", to, "Target format")->check(CLI::IsMember({"nnunet"}))->capture_default_str();
  app.add_option("--layout", layout, "auto (the default) or one of " + join(data::layout_names(), ", "));
  app.add_flag("--regions", as_regions, "Write nested regions (whole_tumor, …) instead of labels");
  add_force(app, force);
  add_common(app, common);
  if (!parse(app, arguments, common)) return Exit::done;

  const data::Dataset dataset = data::open_dataset(data_of(path, layout));
  Outputs outputs(force);
  const auto lock = library::lock_output(out);
  data::write_nnunet(dataset, out, as_regions, outputs);
  print("{}\n", (fs::path(out) / "dataset.json").string());
  return Exit::done;
}

}  // namespace voxswap::cli
