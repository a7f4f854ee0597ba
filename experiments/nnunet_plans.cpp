#include "experiments/nnunet_plans.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "base/units.h"
#include "data/layouts/dataset_json.h"
#include "data/layouts/folders.h"
#include "data/layouts/layouts.h"
#include "experiments/keys.h"
#include "experiments/presets.h"
#include "pipeline/cases/label_decoder.h"

namespace voxswap::experiments {

namespace {

using Words = std::vector<std::string>;

// An entry of plans.json with its path, for messages.
class Entry {
 public:
  Entry(const std::string& file, std::string path, const Json& value)
      : file_(&file), path_(std::move(path)), value_(&value) {}

  [[noreturn]] void wrong(const std::string& expected) const {
    std::string found = value_->dump(-1, ' ', true, Json::error_handler_t::replace);
    if (found.size() > 80) found = found.substr(0, 77) + "...";
    fail(Exit::bad_data, "{}: {}: expected {}, found {}", *file_, path_, expected, found);
  }
  bool has(const char* key) const { return value_->is_object() && value_->contains(key); }
  // Null counts as missing.
  bool is_set(const char* key) const { return has(key) && !(*value_)[key].is_null(); }
  Entry at(const std::string& key) const {
    if (!value_->is_object()) wrong("an object");
    const auto found = value_->find(key);
    if (found == value_->end())
      fail(Exit::bad_data, "{}: {} has no entry \"{}\", which nnU-Net 2 writes", *file_,
           path_.empty() ? "the file" : path_, key);
    return {*file_, path_.empty() ? key : path_ + "." + key, *found};
  }
  std::vector<Entry> items() const {
    if (!value_->is_array()) wrong("a list");
    std::vector<Entry> entries;
    for (const Json& item : *value_) entries.push_back({*file_, path_, item});
    return entries;
  }
  Words keys() const {
    Words names;
    if (!value_->is_object()) wrong("an object");
    for (const auto& [key, value] : value_->items()) names.push_back(key);
    return names;
  }
  std::string text() const {
    if (!value_->is_string()) wrong("text");
    return value_->get<std::string>();
  }
  double real() const {
    if (!value_->is_number()) wrong("a number");
    return value_->get<double>();
  }
  std::int64_t whole(std::int64_t least, std::int64_t most) const {
    const double value = real();
    if (value != std::floor(value) || value < static_cast<double>(least) || value > static_cast<double>(most))
      wrong(format("a whole number from {} to {}", least, most));
    return static_cast<std::int64_t>(value);
  }
  bool boolean() const {
    if (!value_->is_boolean()) wrong("true or false");
    return value_->get<bool>();
  }
  std::vector<std::int64_t> wholes(std::int64_t least, std::int64_t most) const {
    std::vector<std::int64_t> numbers;
    for (const Entry& item : items()) numbers.push_back(item.whole(least, most));
    return numbers;
  }
  // x, y, z from z, y, x, or x, y, 1 from y, x.
  std::array<std::int64_t, 3> axes(std::size_t count, std::int64_t least, std::int64_t most) const {
    const std::vector<std::int64_t> numbers = wholes(least, most);
    if (numbers.size() != count) wrong(format("{} whole numbers", count));
    return {numbers[count - 1], numbers[count - 2], count == 3 ? numbers[0] : 1};
  }
  // Fails unless the text is one of these; `why` says what voxswap has.
  std::string one_of(const Words& words) const {
    std::string found = text();
    if (!is_among(found, words)) wrong(join(words, " or ") + ", which voxswap has,");
    return found;
  }

 private:
  const std::string* file_;
  std::string path_;
  const Json* value_;
};

// A configuration with the entries that it inherits.
Json resolved(const Entry& plans, const Json& configurations, const std::string& name, int depth = 0) {
  const auto found = configurations.find(name);
  if (found == configurations.end() || !found->is_object() || depth > 8)
    plans.at("configurations").wrong(format("a configuration {}", name));
  const auto parent = found->find("inherits_from");
  if (parent == found->end()) return *found;
  if (!parent->is_string()) plans.at("configurations").wrong("a name in inherits_from");
  Json result = resolved(plans, configurations, parent->get<std::string>(), depth + 1);
  for (const auto& [key, value] : found->items()) result[key] = value;
  return result;
}

class PlansReader {
 public:
  PlansReader(const fs::path& folder, const std::string& configuration)
      : file_((folder / "plans.json").string()),
        json_(parse_json(read_file(folder / "plans.json"))),
        plans_(file_, "", json_) {
    if (!json_.is_object()) plans_.wrong("the plans of nnU-Net 2");
    configuration_ = resolved(plans_, json_["configurations"], configuration);
    name_ = configuration;
  }

  std::size_t axes() const { return axes_; }
  const std::string& previous() const { return previous_; }

  Settings read(const data::Dataset& dataset) {
    const Entry configuration(file_, "configurations." + name_, configuration_);
    check_supported(configuration);
    axes_ = configuration.at("patch_size").items().size() == 2 ? 2 : 3;
    if (configuration.is_set("previous_stage")) {
      previous_ = configuration.at("previous_stage").text();
      set("preprocess.cascade", "true");
    }
    set("preprocess.recipe", "nnunet");
    set("preprocess.spacing", spacing(configuration.at("spacing")));
    set("preprocess.transpose", list(plans_.at("transpose_forward").wholes(0, 2)));
    set("preprocess.schemes", schemes(configuration, dataset));
    if (configuration.is_set("median_image_size_in_voxels")) {
      Words sides;
      for (const Entry& side : configuration.at("median_image_size_in_voxels").items())
        sides.insert(sides.begin(), std::to_string(std::max<std::int64_t>(1, std::llround(side.real()))));
      if (axes_ == 2) sides.emplace_back("1");
      set("preprocess.resolution", "[" + join(sides, ", ") + "]");
    }
    set("training.preset", "nnunet");
    set("training.patch", list(configuration.at("patch_size").axes(axes_, 1, 4096)));
    set("training.batch_size", std::to_string(configuration.at("batch_size").whole(1, 4096)));
    set("training.precision", "f32");
    if (configuration.is_set("batch_dice"))
      set("training.batch_dice", configuration.at("batch_dice").boolean() ? "true" : "false");
    set("evaluate.average", "nnunet");
    set("evaluate.empty", "nnunet");
    read_network(configuration);
    return std::move(settings_);
  }

 private:
  void set(const std::string& key, const std::string& value) {
    assign_setting(settings_, key, setting_value(key, value, file_));
  }
  template <class Numbers>
  static std::string list(const Numbers& numbers) {
    Words words;
    for (const std::int64_t one : numbers) words.push_back(std::to_string(one));
    return "[" + join(words, ", ") + "]";
  }
  std::string spacing(const Entry& entry) const {
    Words words;
    for (const Entry& item : entry.items()) words.insert(words.begin(), number(item.real()));
    if (words.size() != axes_) entry.wrong(format("{} numbers", axes_));
    if (axes_ == 2) words.emplace_back("own");
    return "[" + join(words, ", ") + "]";
  }

  void check_resampling(const Entry& configuration, const char* key, std::int64_t order) const {
    configuration.at(key).one_of({"resample_data_or_seg_to_shape"});
    const Entry how = configuration.at(std::string(key) + "_kwargs");
    how.at("order").whole(order, order);
    how.at("order_z").whole(0, 0);
    if (how.is_set("force_separate_z")) how.at("force_separate_z").wrong("null");
  }

  void check_supported(const Entry& configuration) const {
    configuration.at("preprocessor_name").one_of({"DefaultPreprocessor"});
    plans_.at("image_reader_writer").one_of({"SimpleITKIO", "NibabelIO"});
    if (plans_.is_set("label_manager")) plans_.at("label_manager").one_of({"LabelManager"});
    check_resampling(configuration, "resampling_fn_data", 3);
    check_resampling(configuration, "resampling_fn_probabilities", 1);
  }

  // --- Preprocessing

  std::string ct_scheme(std::size_t channel) const {
    const char* key = "foreground_intensity_properties_per_channel";
    const Entry properties = plans_.at(plans_.has(key) ? key : "foreground_intensity_properties_by_modality")
                                 .at(std::to_string(channel));
    Words numbers;
    for (const char* name : {"percentile_00_5", "percentile_99_5", "mean", "std"})
      numbers.push_back(number(properties.at(name).real()));
    return "[" + join(numbers, ", ") + "]";
  }

  std::string schemes(const Entry& configuration, const data::Dataset& dataset) const {
    const std::vector<Entry> names = configuration.at("normalization_schemes").items(),
                             masks = configuration.at("use_mask_for_norm").items();
    if (names.size() != dataset.modalities.size() || masks.size() != names.size())
      configuration.at("normalization_schemes")
          .wrong(counted(std::ssize(dataset.modalities), "scheme") +
                 ", as many as dataset.json has channels, with as many entries in use_mask_for_norm,");
    Words words;
    for (std::size_t c = 0; c < names.size(); ++c) {
      const std::string name = names[c].one_of({"ZScoreNormalization", "CTNormalization", "NoNormalization",
                                                "RescaleTo01Normalization", "RGBTo01Normalization"});
      if (name == "ZScoreNormalization") words.push_back(masks[c].boolean() ? "zscore_masked" : "zscore");
      if (name == "CTNormalization") words.push_back(ct_scheme(c));
      if (name == "NoNormalization") words.emplace_back("none");
      if (name == "RescaleTo01Normalization") words.emplace_back("rescale");
      if (name == "RGBTo01Normalization") words.emplace_back("rgb");
    }
    return "[" + join(words, ", ") + "]";
  }

  // --- The network

  // What old and new plans say of a U-Net, in the form of the new ones.
  static Json architecture(const Entry& configuration) {
    const bool plain = configuration.at("UNet_class_name").one_of({"PlainConvUNet", "ResidualEncoderUNet"}) ==
                       "PlainConvUNet";
    const std::vector<std::int64_t> encoder = configuration.at("n_conv_per_stage_encoder").wholes(1, 100);
    const std::int64_t base = configuration.at("UNet_base_num_features").whole(1, 1024),
                       most = configuration.at("unet_max_num_features").whole(1, 4096);
    Json features = Json::array();
    for (std::size_t level = 0; level < encoder.size(); ++level)
      features.push_back(std::min(base << std::min<std::size_t>(level, 20), most));
    const auto lists = [&](const char* key) {
      Json levels = Json::array();
      for (const Entry& level : configuration.at(key).items()) levels.push_back(level.wholes(1, 100));
      return levels;
    };
    return {{"n_stages", encoder.size()},
            {"features_per_stage", features},
            {"kernel_sizes", lists("conv_kernel_sizes")},
            {"strides", lists("pool_op_kernel_sizes")},
            {plain ? "n_conv_per_stage" : "n_blocks_per_stage", encoder},
            {"n_conv_per_stage_decoder", configuration.at("n_conv_per_stage_decoder").wholes(1, 100)},
            {"network", plain ? "plain_unet" : "resenc_unet"}};
  }

  void read_network(const Entry& configuration) {
    if (!configuration.is_set("architecture")) {
      const Json old = architecture(configuration);
      return read_levels(Entry(file_, "configurations." + name_, old), old["network"].get<std::string>());
    }
    const Entry architecture = configuration.at("architecture"), kwargs = architecture.at("arch_kwargs");
    const Entry class_name = architecture.at("network_class_name");
    const std::vector<std::string> parts = split(class_name.text(), '.');
    if (parts.back() != "PlainConvUNet" && parts.back() != "ResidualEncoderUNet")
      class_name.wrong("PlainConvUNet or ResidualEncoderUNet, which voxswap has,");
    check_layers(kwargs);
    read_levels(kwargs, parts.back() == "PlainConvUNet" ? "plain_unet" : "resenc_unet");
  }

  // Arguments of the layers, all of which voxswap's networks have in one form.
  void check_layers(const Entry& kwargs) {
    const Words known = split(
        "n_stages features_per_stage conv_op kernel_sizes strides n_conv_per_stage n_blocks_per_stage "
        "n_conv_per_stage_decoder conv_bias norm_op norm_op_kwargs dropout_op dropout_op_kwargs nonlin "
        "nonlin_kwargs deep_supervision",
        ' ');
    for (const std::string& key : kwargs.keys())
      if (!is_among(key, known)) kwargs.at(key).wrong("no such argument: voxswap's U-Nets have none;");
    const std::string conv = format("Conv{}d", axes_), norm_op = format("InstanceNorm{}d", axes_);
    kwargs.at("conv_op").one_of({"torch.nn.modules.conv." + conv, "torch.nn." + conv});
    kwargs.at("norm_op").one_of({"torch.nn.modules.instancenorm." + norm_op, "torch.nn." + norm_op});
    kwargs.at("nonlin").one_of({"torch.nn.LeakyReLU", "torch.nn.modules.activation.LeakyReLU"});
    if (!kwargs.at("conv_bias").boolean()) kwargs.at("conv_bias").wrong("true");
    if (kwargs.is_set("dropout_op")) kwargs.at("dropout_op").wrong("null");
    const Entry norm = kwargs.at("norm_op_kwargs");
    if (!norm.at("affine").boolean()) norm.at("affine").wrong("true");
    if (norm.has("eps") && norm.at("eps").real() != 1e-5) norm.at("eps").wrong("1e-05");
    if (kwargs.is_set("nonlin_kwargs") && kwargs.at("nonlin_kwargs").has("negative_slope"))
      set("network.slope", number(kwargs.at("nonlin_kwargs").at("negative_slope").real()));
  }

  static void check_numbers(const Entry& entry, const std::vector<std::int64_t>& expected) {
    if (entry.wholes(1, 1000) != expected) entry.wrong(list(expected) + ", as voxswap's network has,");
  }

  std::string levels(const Entry& entry, std::size_t depth, std::int64_t most) const {
    Words words;
    for (const Entry& level : entry.items()) words.push_back(list(level.axes(axes_, 1, most)));
    if (words.size() != depth) entry.wrong(counted(static_cast<std::int64_t>(depth), "level"));
    return "[" + join(words, ", ") + "]";
  }

  void read_levels(const Entry& kwargs, const std::string& network) {
    const auto depth = kwargs.at("n_stages").whole(3, 8);
    const auto levels_count = static_cast<std::size_t>(depth);
    const std::vector<std::int64_t> features = kwargs.at("features_per_stage").wholes(1, 1024);
    if (features.size() != levels_count) kwargs.at("features_per_stage").wrong(counted(depth, "level"));
    const std::int64_t base = features.front(), most = *std::max_element(features.begin(), features.end());
    for (std::size_t level = 0; level < levels_count; ++level)
      if (features[level] != std::min(base << level, most))
        kwargs.at("features_per_stage").wrong("channels that double at each level up to a maximum");
    const bool plain = network == "plain_unet";
    std::vector<std::int64_t> blocks(levels_count, plain ? 2 : 6);
    if (!plain) std::copy_n(std::array<std::int64_t, 3>{1, 3, 4}.begin(), 3, blocks.begin());
    check_numbers(kwargs.at(plain ? "n_conv_per_stage" : "n_blocks_per_stage"), blocks);
    check_numbers(kwargs.at("n_conv_per_stage_decoder"),
                  std::vector<std::int64_t>(levels_count - 1, plain ? 2 : 1));
    set("network.name", network);
    set("network.base_filters", std::to_string(base));
    set("network.max_filters", std::to_string(most));
    set("network.depth", std::to_string(depth));
    set("network.kernels", levels(kwargs.at("kernel_sizes"), levels_count, 3));
    set("network.strides", levels(kwargs.at("strides"), levels_count, 2));
    Words weights;
    for (const double weight : deep_supervision_weights(depth)) weights.push_back(number(weight));
    set("training.deep_supervision", "[" + join(weights, ", ") + "]");
  }

  std::string file_, name_, previous_;
  std::size_t axes_ = 3;
  Json json_, configuration_;
  Entry plans_;
  Settings settings_;
};

// nnU-Net's labels are consecutive numbers from 0.
void check_labels(const fs::path& folder, const data::Dataset& dataset) {
  for (std::size_t i = 0; i < dataset.labels.size(); ++i)
    if (dataset.labels[i].second != static_cast<int>(i) + 1)
      fail(Exit::bad_data, "{}: \"labels\": expected the values 0 to {}, found {} for {}",
           (folder / "dataset.json").string(), dataset.labels.size(), dataset.labels[i].second,
           dataset.labels[i].first);
}

// Regions are written over each other in the order of dataset.json, each as its entry in regions_class_order.
void check_class_order(const fs::path& folder, const data::Dataset& dataset) {
  const std::string file = (folder / "dataset.json").string();
  const Json json = parse_json(read_file(file));
  const std::vector<std::int64_t> given = Entry(file, "", json).at("regions_class_order").wholes(1, 32767);
  pipeline::TrainingOptions training;
  training.targets = pipeline::Targets::regions;
  const pipeline::LabelDecoder decoder = pipeline::make_decoder(dataset, training);
  const bool in_order = std::is_sorted(decoder.sequence.begin(), decoder.sequence.end());
  if (in_order && std::equal(given.begin(), given.end(), decoder.values.begin(), decoder.values.end()))
    return;
  Entry(file, "", json)
      .at("regions_class_order")
      .wrong(
          "larger regions before smaller ones, each with a label that the smaller ones lack, as voxswap "
          "writes "
          "them,");
}

data::Dataset described(const fs::path& folder) {
  data::DatasetOptions options;
  options.root = folder;
  const std::optional<data::DatasetJson> json = data::read_dataset_json(folder);
  if (!json || json->channels.empty() || json->labels.empty())
    fail(Exit::bad_data, "{}: has no channels or no labels, which nnU-Net writes",
         (folder / "dataset.json").string());
  data::Dataset dataset = data::list_nnunet(options);
  dataset.root = folder;
  dataset.layout = "nnunet";
  dataset.recognised = "imported from nnU-Net";
  dataset.all_modalities = dataset.modalities;
  check_labels(folder, dataset);
  const bool of_regions = !dataset.regions.empty();
  if (of_regions) check_class_order(folder, dataset);
  if (!of_regions) dataset.regions = data::default_regions(dataset.labels);
  return dataset;
}

}  // namespace

NnunetPlans read_nnunet_plans(const fs::path& folder, const std::string& configuration) {
  NnunetPlans result;
  result.dataset = described(folder);
  PlansReader reader(folder, configuration);
  result.settings = reader.read(result.dataset);
  result.axes = reader.axes();
  result.previous = reader.previous();
  const std::optional<data::DatasetJson> json = data::read_dataset_json(folder);
  const bool of_regions = std::any_of(json->labels.begin(), json->labels.end(),
                                      [](const auto& label) { return label.second.size() > 1; });
  const auto set = [&](const std::string& key, const std::string& value) {
    assign_setting(result.settings, key, setting_value(key, value, folder.string()));
  };
  set("training.targets", of_regions ? "regions" : "labels");
  set("training.loss", of_regions ? "dice_cross_entropy" : "softmax_dice_cross_entropy");
  return result;
}

}  // namespace voxswap::experiments
