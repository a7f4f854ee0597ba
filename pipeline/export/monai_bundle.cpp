#include "pipeline/export/monai_bundle.h"

#include "base/error.h"
#include "base/json.h"
#include "base/keys.h"
#include "pipeline/export/monai_inference_json.h"
#include "pipeline/export/monai_steps_py.h"

namespace voxswap::pipeline {

namespace {

// Metadata as required by MONAI's schema for bundles.
Json metadata(const TrainedNetwork& network) {
  const Json channels = checked_json(network.about.at("modalities")),
             outputs = checked_json(network.about.at("outputs")),
             preprocess = checked_json(network.about.at("preprocess"));
  const Json& window = preprocess.at(preprocess.at("patch").is_null() ? "resolution" : "patch");
  const auto named = [](const Json& names) {
    Json by_number = Json::object();
    for (std::size_t i = 0; i < names.size(); ++i) by_number[std::to_string(i)] = names[i];
    return by_number;
  };
  const auto volume = [&](const char* format, std::int64_t count, const Json& names) {
    return Json{{"type", "image"},
                {"format", format},
                {"num_channels", count},
                {"spatial_shape", {window[2], window[1], window[0]}},
                {"dtype", "float32"},
                {"value_range", Json::array()},
                {"is_patch_data", !preprocess.at("patch").is_null()},
                {"channel_def", named(names)}};
  };
  return {{"version", "1.0.0"},
          {"changelog", {{"1.0.0", "exported by voxswap " + network.about.at("voxswap")}}},
          {"monai_version", "1.6.1"},  // tested with this version (docs/how_to/export.md)
          {"pytorch_version", "2.15.0"},
          {"numpy_version", "2.4.6"},
          {"required_packages_version", {{"nibabel", "5.4.2"}, {"scipy", "1.17.1"}}},
          {"task", "segmentation"},
          {"description", "A " + network.options.name + " trained with voxswap"},
          {"authors", ""},
          {"copyright", ""},
          {"network_data_format",
           {{"inputs", {{"image", volume("magnitude", network.channels, channels)}}},
            {"outputs", {{"pred", volume("segmentation", network.outputs, outputs)}}}}}};
}

}  // namespace

std::map<std::string, std::string> monai_files(const TrainedNetwork& network) {
  const Json preprocess = checked_json(network.about.at("preprocess"));
  if (network.images || preprocess.at("slices") != "none")
    fail(Exit::usage, "--to monai: bundles are for networks of volumes. Use --to onnx or --to pytorch");
  if (!preprocess.at("bias_correction").empty())
    fail(Exit::usage, "--to monai: {} is not part of a bundle. Use --to onnx or --to pytorch",
         key::preprocess_bias_correction);
  if (preprocess.contains("recipe"))
    fail(Exit::usage, "--to monai: {} nnunet is not part of a bundle. Use --to onnx or --to pytorch",
         key::preprocess_recipe);
  return {{"configs/metadata.json", metadata(network).dump(2) + "\n"},
          {"configs/inference.json", monai_inference_json},
          {"scripts/__init__.py", ""},
          {"scripts/model.py", pytorch_model()},
          {"scripts/steps.py", monai_steps_py}};
}

}  // namespace voxswap::pipeline
