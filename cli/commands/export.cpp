// voxswap export: writes the network of a finished run for other machines and programs.
#include <CLI/CLI.hpp>

#include "base/file.h"
#include "base/json.h"
#include "base/outputs.h"
#include "base/standard_streams.h"
#include "cli/describe.h"
#include "cli/options.h"
#include "experiments/experiment.h"
#include "library/bundle.h"
#include "library/model.h"
#include "pipeline/export/monai_bundle.h"
#include "pipeline/export/nnunet_folder.h"
#include "pipeline/export/onnx_graph.h"
#include "pipeline/export/trained_network.h"

namespace voxswap::cli {

namespace {

void export_onnx(const pipeline::TrainedNetwork& network, const fs::path& out, const Outputs& outputs) {
  const pipeline::OnnxGraph graph = pipeline::onnx_graph(
      network.graph, network.weights.checkpoint.tensors,
      {.images = network.images, .classifies = network.classifies, .softmax = network.softmax});
  std::map<std::string, std::string> about = network.about;
  about["multiple_of"] = Json(std::vector(graph.multiple_of.rbegin(), graph.multiple_of.rend())).dump();
  const std::string bytes = pipeline::onnx_file(graph, network.options.name, about);
  outputs.write(out, [&] { write_file(out, bytes); });
}

// FILE.py for FILE.safetensors.
fs::path model_file(fs::path weights) {
  return weights.replace_extension(".py");
}

void export_pytorch(const pipeline::TrainedNetwork& network, const fs::path& out, const Outputs& outputs) {
  outputs.write(out, [&] { pipeline::write_checkpoint(out, pipeline::pytorch_weights(network)); });
  outputs.write(model_file(out), [&] { write_file(model_file(out), pipeline::pytorch_model()); });
  print("{}\n", model_file(out).string());
}

// Writes the files, which are given by their paths in the folder, after checking that all may be written.
void write_files(const std::map<std::string, std::string>& files, const fs::path& folder,
                 const Outputs& outputs) {
  for (const auto& [name, content] : files) outputs.check(folder / name);
  for (const auto& [name, content] : files) {
    make_directories((folder / name).parent_path());
    outputs.write(folder / name, [&, &text = content] { write_file(folder / name, text); });
  }
}

void export_monai(const pipeline::TrainedNetwork& network, const std::string& description,
                  const fs::path& out, const Outputs& outputs) {
  std::map<std::string, std::string> files = pipeline::monai_files(network);
  files[library::bundle_description] = description;
  outputs.check(out / pipeline::monai_weights);
  write_files(files, out, outputs);
  const fs::path weights = out / pipeline::monai_weights;
  make_directories(weights.parent_path());
  outputs.write(weights, [&] { pipeline::write_checkpoint(weights, pipeline::pytorch_weights(network)); });
}

void export_model(const std::string& folder, const std::string& readme, const fs::path& out,
                  const Outputs& outputs) {
  const library::Model model = library::model_of(folder, readme.empty() ? "" : read_file(readme));
  outputs.write(out, [&] { library::write_model(out, model); });
}

// Chooses the format by the extension of --out, unless --to was given, which must agree with it.
void settle_format(std::string& to, bool given, const fs::path& out) {
  static constexpr std::pair<const char*, const char*> files[] = {
      {".onnx", "onnx"}, {".safetensors", "pytorch"}, {".model", "model"}};
  const std::string extension = lower(out.extension().string());
  for (const auto& [its_extension, format] : files) {
    if (extension != its_extension || to == format) continue;
    if (given)
      fail(Exit::usage, "--out: {} would be the name of a file of --to {}, but --to {} was asked for",
           out.string(), format, to);
    to = format;
    return;
  }
}

}  // namespace

Exit export_command(const Arguments& arguments) {
  CLI::App app("Export the network of a finished run with its best weights.", "voxswap export");
  CommonOptions common;
  std::string folder, out, readme, to = "onnx";
  std::int64_t repeat = 1;
  bool force = false;
  app.add_option("RUN_DIR", folder, "Folder of a finished run")->required();
  app.add_option("--out", out,
                 "NAME.onnx, NAME.safetensors (NAME.py is written beside it), NAME.model or a folder")
      ->required();
  auto* const asked =
      app.add_option("--to", to,
                     "Format: onnx, pytorch, monai, nnunet or model (default: by --out, else onnx)")
          ->check(CLI::IsMember({"onnx", "pytorch", "monai", "nnunet", "model"}));
  auto* const one_repeat =
      app.add_option("--repeat", repeat, "Repeat of the run, counted from 1")->capture_default_str();
  app.add_option("--readme", readme, "Text about the network for its users (--to model)");
  add_force(app, force);
  add_common(app, common);
  if (!parse(app, arguments, common)) return Exit::done;

  settle_format(to, asked->count() > 0, out);
  const bool pytorch = to == "pytorch", model = to == "model", nnunet = to == "nnunet";
  if (!readme.empty() && !model) fail(Exit::usage, "--readme: is for --to model. Leave it out");
  if ((model || nnunet) && one_repeat->count() > 0)
    fail(Exit::usage, "--repeat: --to {} writes all repeats. Leave it out", to);
  if (pytorch && model_file(out) == fs::path(out))
    fail(Exit::usage, "--out: '{}' would be the name of the Python file. Name the weights NAME.safetensors",
         out);
  const bool monai = to == "monai", into_folder = monai || nnunet;
  into_folder ? check_output_folder(out) : check_output_file("--out", out);
  Outputs outputs(force);
  outputs.protect_below(folder);
  if (!into_folder) outputs.check(out);
  if (pytorch) outputs.check(model_file(out));
  if (model) {
    export_model(folder, readme, out, outputs);
    print("{}\n", out);
    return Exit::done;
  }
  const experiments::LoadedExperiment run = experiments::load_run(folder);
  if (nnunet) {
    write_files(pipeline::nnunet_files({run, run.settings}), out, outputs);
    print("{}\n", out);
    return Exit::done;
  }
  const pipeline::TrainedNetwork network =
      pipeline::trained_network({run, run.settings}, repeat, VOXSWAP_VERSION);
  if (monai)
    export_monai(network, library::describe_bundle(folder, repeat), out, outputs);
  else
    (pytorch ? export_pytorch : export_onnx)(network, out, outputs);
  print("{}\n", out);
  return Exit::done;
}

}  // namespace voxswap::cli
