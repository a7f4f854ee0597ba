#include "pipeline/export/nnunet_folder.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/keys.h"
#include "data/augment/augment.h"
#include "data/cases/nnunet_writing.h"
#include "net/networks/networks.h"
#include "pipeline/cases/patches.h"
#include "pipeline/record/torch_writing.h"

namespace voxswap::pipeline {

namespace {

[[noreturn]] void refuse(const Experiment& experiment, const std::string& what) {
  fail(Exit::usage, "{}: cannot be exported to nnU-Net: {}", experiment.output.string(), what);
}

void check_for_nnunet(const TrainedRun& run, const data::Dataset& dataset) {
  const Experiment& experiment = run.experiment;
  check_no_cascade(run);
  if (!net::has_levels(experiment.network.name))
    refuse(experiment, format("it has no network like {}", experiment.network.name));
  if (experiment.preprocess.recipe != data::Recipe::nnunet || experiment.evaluate.average != Average::nnunet)
    refuse(experiment, format("it would prepare cases in another way. {} and {} must be nnunet",
                              key::preprocess_recipe, key::evaluate_average));
  for (const auto& [value, of_nnunet] : data::nnunet_values(dataset))
    if (value != of_nnunet) refuse(experiment, "its labels must be 1, 2 and so on, without gaps");
  if (experiment.training.targets == Targets::both)
    refuse(experiment, format("{} is both", key::training_targets));
}

class Plans {
 public:
  explicit Plans(const Experiment& experiment)
      : experiment_(experiment), axes_(experiment.preprocess.spacing[2] > 0 ? 3 : 2) {}

  std::size_t axes() const { return axes_; }

  std::string configuration() const { return axes_ == 3 ? "3d_fullres" : "2d"; }

  Json json() const {
    const data::PrepareOptions& prepare = experiment_.preprocess;
    std::array<int, 3> backward{};
    for (std::size_t i = 0; i < 3; ++i)
      backward[static_cast<std::size_t>(prepare.transpose[i])] = static_cast<int>(i);
    return {{"dataset_name", "Dataset001_" + experiment_.name},
            {"plans_name", "nnUNetPlans"},
            {"image_reader_writer", "SimpleITKIO"},
            {"transpose_forward", prepare.transpose},
            {"transpose_backward", backward},
            {"label_manager", "LabelManager"},
            {"experiment_planner_used", "ExperimentPlanner"},
            {"foreground_intensity_properties_per_channel", intensities()},
            {"configurations", {{configuration(), used()}}}};
  }

 private:
  // z, y, x or y, x.
  template <class Sides>
  Json of_axes(const Sides& sides) const {
    Json result = Json::array();
    for (std::size_t axis = axes_; axis-- > 0;) result.push_back(sides[axis]);
    return result;
  }

  Json intensities() const {
    Json channels = Json::object();
    for (std::size_t c = 0; c < experiment_.preprocess.schemes.size(); ++c) {
      const data::Scheme& scheme = experiment_.preprocess.schemes[c];
      channels[std::to_string(c)] = {{"percentile_00_5", scheme.low},
                                     {"percentile_99_5", scheme.high},
                                     {"mean", scheme.mean},
                                     {"std", scheme.deviation}};
    }
    return channels;
  }

  static std::string scheme_name(data::Scheme::Name name) {
    switch (name) {
      case data::Scheme::Name::zscore:
      case data::Scheme::Name::zscore_masked:
        return "ZScoreNormalization";
      case data::Scheme::Name::rescale:
        return "RescaleTo01Normalization";
      case data::Scheme::Name::rgb:
        return "RGBTo01Normalization";
      case data::Scheme::Name::ct:
        return "CTNormalization";
      case data::Scheme::Name::none:
        break;
    }
    return "NoNormalization";
  }

  Json used() const {
    Json schemes = Json::array(), masks = Json::array();
    for (const data::Scheme& scheme : experiment_.preprocess.schemes) {
      schemes.push_back(scheme_name(scheme.name));
      masks.push_back(scheme.name == data::Scheme::Name::zscore_masked);
    }
    const std::string resample = "resample_data_or_seg_to_shape";
    const auto how = [](bool labels, int order) {
      return Json{{"is_seg", labels}, {"order", order}, {"order_z", 0}, {"force_separate_z", nullptr}};
    };
    return {{"data_identifier", "nnUNetPlans_" + configuration()},
            {"preprocessor_name", "DefaultPreprocessor"},
            {"batch_size", experiment_.training.batch_size},
            {"patch_size", of_axes(input_size(experiment_))},
            {"median_image_size_in_voxels", of_axes(experiment_.preprocess.resolution)},
            {"spacing", of_axes(experiment_.preprocess.spacing)},
            {"normalization_schemes", schemes},
            {"use_mask_for_norm", masks},
            {"resampling_fn_data", resample},
            {"resampling_fn_data_kwargs", how(false, 3)},
            {"resampling_fn_seg", resample},
            {"resampling_fn_seg_kwargs", how(true, 1)},
            {"resampling_fn_probabilities", resample},
            {"resampling_fn_probabilities_kwargs", how(false, 1)},
            {"batch_dice", experiment_.training.batch_dice},
            {"architecture", architecture()}};
  }

  Json architecture() const {
    const net::NetworkOptions& network = experiment_.network;
    const bool plain = network.name == "plain_unet";
    Json features = Json::array(), kernels = Json::array(), strides = Json::array(), blocks = Json::array();
    for (std::int64_t level = 0; level < network.depth; ++level) {
      features.push_back(net::level_channels(network, level));
      kernels.push_back(of_axes(net::level_kernel(network, level)));
      strides.push_back(of_axes(net::level_stride(network, level)));
      blocks.push_back(net::level_blocks(network, level));
    }
    const std::string dimensions = std::to_string(axes_) + "d";
    return {{"network_class_name", std::string("dynamic_network_architectures.architectures.unet.") +
                                       (plain ? "PlainConvUNet" : "ResidualEncoderUNet")},
            {"arch_kwargs",
             {{"n_stages", network.depth},
              {"features_per_stage", features},
              {"conv_op", "torch.nn.modules.conv.Conv" + dimensions},
              {"kernel_sizes", kernels},
              {"strides", strides},
              {plain ? "n_conv_per_stage" : "n_blocks_per_stage", blocks},
              {"n_conv_per_stage_decoder",
               std::vector<int>(static_cast<std::size_t>(network.depth) - 1, plain ? 2 : 1)},
              {"conv_bias", true},
              {"norm_op", "torch.nn.modules.instancenorm.InstanceNorm" + dimensions},
              {"norm_op_kwargs", {{"eps", 1e-5}, {"affine", true}}},
              {"dropout_op", nullptr},
              {"dropout_op_kwargs", nullptr},
              {"nonlin", "torch.nn.LeakyReLU"},
              {"nonlin_kwargs", {{"inplace", true}, {"negative_slope", network.slope}}}}},
            {"_kw_requires_import", {"conv_op", "norm_op", "dropout_op", "nonlin"}}};
  }

  const Experiment& experiment_;
  std::size_t axes_;
};

// The parameters under nnU-Net's names, some of which it registers twice (is_nnunet_copy() in import_run.h).
// `added`: segmentation layers that only deep supervision trains, and that the run lacks.
std::vector<NamedTensor> named_weights(const TrainedRun& run, const Checkpoint& weights, std::size_t axes,
                                       std::vector<Tensor>& added) {
  const net::NetworkOptions& network = run.experiment.network;
  const auto has = [&](const std::string& name) {
    return std::any_of(weights.tensors.begin(), weights.tensors.end(),
                       [&](const Tensor& tensor) { return tensor.name == name; });
  };
  const Shape& head = weights.tensor(format("decoder.seg_layers.{}.bias", network.depth - 2), "").shape;
  for (std::int64_t i = 0; i < network.depth - 2; ++i) {
    const std::string name = format("decoder.seg_layers.{}.", i);
    if (has(name + "weight")) continue;
    const Shape shape{head[0], net::level_channels(network, network.depth - 2 - i), 1, 1, 1};
    added.push_back({name + "weight", shape, std::vector<float>(static_cast<std::size_t>(shape.count()))});
    added.push_back({name + "bias", head, std::vector<float>(static_cast<std::size_t>(head[0]))});
  }
  std::vector<NamedTensor> result;
  const auto add = [&](const std::string& name, const Tensor& tensor) {
    Shape shape = tensor.shape;
    if (axes == 2 && shape.rank() == 5) shape = {shape[0], shape[1], shape[3], shape[4]};
    result.push_back({name, &tensor, shape});
    if (name.starts_with("encoder.")) result.push_back({"decoder." + name, &tensor, shape});
  };
  const auto add_all = [&](const std::vector<Tensor>& tensors) {
    for (const Tensor& tensor : tensors) {
      add(tensor.name, tensor);
      for (const auto& [part, copy] : {std::pair{".conv.", ".all_modules.0."}, {".norm.", ".all_modules.1."}})
        if (const std::size_t at = tensor.name.rfind(part); at != tensor.name.npos)
          add(tensor.name.substr(0, at) + copy + tensor.name.substr(at + std::string_view(part).size()),
              tensor);
    }
  };
  add_all(weights.tensors);
  add_all(added);
  return result;
}

// The mirrored axes, counted in the order z, y, x (2D: y, x); null if predictions are not mirrored.
Json mirroring(const Experiment& experiment, std::size_t axes) {
  if (!experiment.evaluate.tta) return nullptr;
  const std::array<bool, 3> mirrored = data::mirrored_axes(experiment.training.augment);
  Json result = Json::array();
  for (std::size_t axis = 0; axis < axes; ++axis)
    if (mirrored[axes - 1 - axis]) result.push_back(axis);
  return result;
}

}  // namespace

std::map<std::string, std::string> nnunet_files(const TrainedRun& given) {
  const TrainedRun run = confirmed_for_prediction(given);
  const Experiment& experiment = run.experiment;
  const data::Dataset dataset = trained_on(experiment);
  check_for_nnunet(run, dataset);
  const Plans plans(experiment);
  std::map<std::string, std::string> files = {
      {"plans.json", plans.json().dump(2) + "\n"},
      {"dataset.json",
       data::nnunet_description(dataset, 0, experiment.training.targets == Targets::regions)}};
  for (std::int64_t repeat = 1; repeat <= experiment.training.repeats; ++repeat) {
    const BestWeights weights = best_weights(run, dataset, repeat);
    std::vector<Tensor> added;
    files[format("fold_{}/checkpoint_final.pth", repeat - 1)] =
        torch_file("network_weights", named_weights(run, weights.checkpoint, plans.axes(), added),
                   {{"trainer_name", "nnUNetTrainer"},
                    {"init_args", {{"configuration", plans.configuration()}, {"fold", repeat - 1}}},
                    {"inference_allowed_mirroring_axes", mirroring(experiment, plans.axes())}});
  }
  return files;
}

}  // namespace voxswap::pipeline
