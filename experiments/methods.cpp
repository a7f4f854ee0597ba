#include "experiments/methods.h"

#include <algorithm>
#include <set>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "pipeline/report/tables.h"

namespace voxswap::experiments {

namespace {

using pipeline::RunFolder;
using Words = std::vector<std::string>;

// "a, b and c".
std::string list_of(const Words& words) {
  if (words.size() < 2) return join(words, "");
  return join(Words(words.begin(), words.end() - 1), ", ") + " and " + words.back();
}

// The settings of all runs.
class RunSettings {
 public:
  explicit RunSettings(const std::vector<RunFolder>& runs) : runs_(runs) {}

  // The distinct values in the order of the runs; empty if unknown.
  Words values(const std::string& key) const {
    Words values;
    for (const RunFolder& run : runs_) {
      const std::string value = run.setting(key);
      if (!value.empty() && std::find(values.begin(), values.end(), value) == values.end())
        values.push_back(value);
    }
    return values;
  }
  std::string operator[](const std::string& key) const { return list_of(values(key)); }
  bool is(const std::string& key, const std::string& value) const { return values(key) == Words{value}; }
  // True if the key has an effect in any run.
  bool has(const std::string& key) const {
    const Words all = values(key);
    return std::any_of(all.begin(), all.end(), [](const std::string& value) {
      return value != "none" && value != "0" && value != "false" && value != "{}";
    });
  }

 private:
  const std::vector<RunFolder>& runs_;
};

// Words for a value of a key; values without an entry are shown as they are.
struct Meaning {
  const char *value, *words;
};
template <std::size_t count>
std::string words_for(const Words& values, const Meaning (&meanings)[count]) {
  Words all;
  for (const std::string& value : values) {
    const auto found = std::find_if(std::begin(meanings), std::end(meanings),
                                    [&](const Meaning& meaning) { return meaning.value == value; });
    all.push_back(found == std::end(meanings) ? pipeline::with_spaces(value) : found->words);
  }
  return list_of(all);
}

// Names in a list or the keys of an object of dataset.json.
Words names_in(const Json& json, const char* member) {
  Words names;
  if (!json.contains(member)) return names;
  for (const auto& [key, value] : json.at(member).items())
    names.push_back(pipeline::with_spaces(value.is_string() ? value.get<std::string>() : key));
  return names;
}

// How cases were assigned to parts. A file may come from a sweep, so its split may be random, too.
std::string split_method(const RunSettings& all) {
  std::string text;
  const bool is_given = all.has("data.split.file");
  if (is_given) {
    Words files;
    for (const std::string& file : all.values("data.split.file"))
      files.push_back(fs::path(file).filename().string());
    text = format(", split as listed in {}", list_of(files));
  } else if (const std::string seeds = all["data.split.seed"]; !seeds.empty()) {
    text = format(", split at random (seed {})", seeds);
    if (all.has("data.split.stratify")) text += format(", stratified by {}", all["data.split.stratify"]);
  }
  const bool by_known = all.is("data.split.patient", "auto");  // a file may contradict it
  if (all.has("data.split.patient") && !(is_given && by_known))
    text += format(", with all cases of a patient in one part ({})",
                   by_known ? "if names or DICOM headers identify patients" : all["data.split.patient"]);
  return text;
}

std::string split_words(const RunSettings& all, const RunFolder& first) {
  const Words folds = all.values("data.split.fold");  // empty without folds
  const std::string count = all["data.split.folds"], method = split_method(all);
  if (!folds.empty() && count == std::to_string(folds.size()))
    return format("{}-fold cross-validation{}. ", count, method);
  const std::size_t training = first.training_cases, validation = first.validation_cases;
  if (training + validation == 0) return {};
  const std::string of_folds = folds.empty()
                                   ? ""
                                   : format(" (fold{} {}{})", folds.size() == 1 ? "" : "s", list_of(folds),
                                            all.has("data.split.folds") ? " of " + count : "");
  return format("We trained on {} and validated on {}{}{}. ", counted(training, "case"), validation, of_folds,
                method);
}

std::string data_paragraph(const RunSettings& all, const std::vector<RunFolder>& runs) {
  std::string text;
  if (const Words roots = all.values("data.root"); !roots.empty()) {
    Words names;
    for (const std::string& root : roots) names.push_back(fs::path(root).filename().string());
    text += format("The data set is {}. ", list_of(names));
  }
  text += split_words(all, runs.front());
  const fs::path file = runs.front().path / "dataset.json";
  const Json json = fs::exists(file) ? parse_json(read_file(file)) : Json::object();
  const Words channels = names_in(json, "modalities"), labels = names_in(json, "labels"),
              regions = names_in(json, "regions");
  if (!channels.empty()) text += format("Input channels: {}. ", list_of(channels));
  if (!labels.empty()) text += format("Labels: {}. ", list_of(labels));
  if (!regions.empty()) text += format("Scored regions: {}. ", list_of(regions));
  return text;
}

std::string preprocessing_paragraph(const RunSettings& all) {
  static constexpr Meaning normalizations[] = {
      {"dataset", "mean and standard deviation of the foreground, averaged over the training cases"},
      {"ct",
       "mean and standard deviation of labelled voxels of the training cases, clipped to their "
       "percentiles 0.5 and 99.5"},
      {"image", "mean and standard deviation of their foreground"},
      {"masked", "mean and standard deviation of their foreground, with the background set to 0"},
      {"whole", "mean and standard deviation of all voxels"}};
  Words steps{"reoriented to a common orientation"};
  if (all.has("preprocess.bias_correction")) steps.push_back("corrected for bias fields (N4)");
  if (all.has("preprocess.crop"))
    steps.push_back("cropped to the bounding box of the foreground with a margin of one voxel");
  if (all.has("preprocess.clip"))
    steps.push_back(format("clipped to percentiles {} of the foreground", all["preprocess.clip"]));
  const std::string resolution = all["preprocess.resolution"];
  if (all.has("preprocess.spacing"))
    steps.push_back(
        format("resampled to a voxel size of {} mm and padded to {} voxels (images: cubic "
               "B-splines, labels: linear)",
               all["preprocess.spacing"], resolution));
  else if (!resolution.empty())
    steps.push_back(format("resized to {} voxels{} (images: linear, labels: nearest neighbour)", resolution,
                           resolution.find('[') == resolution.npos ? " per side" : ""));
  if (all.has("preprocess.normalize"))
    steps.push_back(
        format("normalised by {}", words_for(all.values("preprocess.normalize"), normalizations)));
  return format("Volumes were {}. ", list_of(steps));
}

std::string network_paragraph(const RunSettings& all) {
  static constexpr Meaning networks[] = {
      {"isensee2017", "the residual 3D U-Net of Isensee et al. (BrainLes 2017)"},
      {"unet3d", "a 3D U-Net (\u00c7i\u00e7ek et al., MICCAI 2016)"},
      {"plain_unet", "the U-Net of nnU-Net (Isensee et al., Nature Methods 2021)"},
      {"resenc_unet", "the residual encoder U-Net of nnU-Net (Isensee et al., MICCAI 2024)"},
      {"deeplabv3", "DeepLabV3 on a ResNet-50 (Chen et al., 2017)"}};
  const Words names = all.values("network.name");
  if (names.empty()) return {};
  Words parts{format("depth {}", all["network.depth"]),
              format("width {} (channels at full resolution)", all["network.base_filters"])};
  const auto uses = [&](const char* key, std::initializer_list<const char*> of) {
    return all.has(key) && std::any_of(names.begin(), names.end(), [&](const std::string& name) {
             return std::find(of.begin(), of.end(), name) != of.end();
           });
  };
  if (uses("network.max_filters", {"plain_unet", "resenc_unet"}))
    parts.push_back(format("width at most {}", all["network.max_filters"]));
  if (uses("network.dropout", {"isensee2017", "deeplabv3"}))
    parts.push_back(format("dropout {}", all["network.dropout"]));
  std::string text = format("The network is {} with {}. ", words_for(names, networks), list_of(parts));
  if (all.has("network.init")) text += "It started from pretrained weights. ";
  return text;
}

std::string schedule_words(const RunSettings& all) {
  const std::string rate = all["training.optimizer.learning_rate"];
  Words parts;
  if (all.is("training.schedule.name", "plateau"))
    parts.push_back(format("multiplied by {} on plateaus of the validation loss, patience {}",
                           all["training.schedule.factor"], all["training.schedule.patience"]));
  else
    parts.push_back(format("{} schedule", all["training.schedule.name"]));
  if (all.has("training.schedule.warm_up"))
    parts.push_back(format("linear warm-up, epochs: {}", all["training.schedule.warm_up"]));
  return format("an initial learning rate of {} ({})", rate, join(parts, ", "));
}

std::string augmentation_words(const RunSettings& all) {
  static constexpr Meaning meanings[] = {{"symmetries", "random symmetries of the cube"},
                                         {"flip", "flips with probability"},
                                         {"rotation", "rotation in degrees"},
                                         {"elastic", "elastic deformation in mm"},
                                         {"scale", "scaling of each axis, SD"},
                                         {"noise", "Gaussian noise, SD"},
                                         {"blur", "Gaussian blur in voxels"},
                                         {"intensity", "intensity scale and shift, SD"}};
  Words parts;
  for (const char* name :
       {"symmetries", "flip", "rotation", "scale", "zoom", "elastic", "noise", "blur", "intensity",
        "brightness", "contrast", "low_resolution", "inverted_gamma", "gamma", "channel_dropout"}) {
    const std::string key = std::string("training.augment.") + name;
    if (!all.has(key)) continue;
    const std::string words = words_for({name}, meanings);
    parts.push_back(all.is(key, "true") ? words : format("{} {}", words, all[key]));
  }
  return parts.empty() ? "No augmentation was used. " : format("Augmentation: {}. ", join(parts, "; "));
}

std::string training_paragraph(const RunSettings& all) {
  if (all["training.loss"].empty()) return {};
  const bool decays = all.has("training.optimizer.weight_decay");
  const Meaning optimizers[] = {{"adam", decays ? "AdamW" : "Adam"}, {"sgd", "SGD with Nesterov momentum"}};
  Words extras;
  if (decays) extras.push_back(format("weight decay {}", all["training.optimizer.weight_decay"]));
  if (all.has("training.optimizer.clip"))
    extras.push_back(format("gradient clipping at norm {}", all["training.optimizer.clip"]));
  if (all.has("training.deep_supervision")) extras.push_back("deep supervision");
  std::string text = format(
      "Training minimised the {} loss with {}, {}{}. Batch size: {}. Largest number of epochs: {}. ",
      pipeline::with_spaces(all["training.loss"]),
      words_for(all.values("training.optimizer.name"), optimizers), schedule_words(all),
      extras.empty() ? "" : ", " + join(extras, ", "), all["training.batch_size"], all["training.epochs"]);
  if (all.has("training.growth")) {
    Words growth = all.values("training.growth");
    const bool some = std::erase(growth, "none") > 0;
    text += format("{} began on coarser grids (factor: epochs {}). ",
                   some ? "Some of the trainings" : "Training", list_of(growth));
  }
  if (all.has("training.patch")) text += format("Samples were patches of {} voxels. ", all["training.patch"]);
  if (all.has("training.early_stop"))
    text += format("Early stopping: patience {}. ", all["training.early_stop"]);
  text += augmentation_words(all);
  if (all.has("training.averaging.name"))
    text += format("Weights were averaged ({}). ", all["training.averaging.name"]);
  text += format(
      "We kept the weights of the epoch with the lowest validation loss. Trainings per model: {} (first seed "
      "{}). ",
      all["training.repeats"], all["training.seed"]);
  return text;
}

std::string statistics_paragraph(const RunSettings& all, bool has_scores, bool is_comparison) {
  if (!has_scores) return {};
  std::string text;
  if (const std::string metrics = all["evaluate.metrics"]; !metrics.empty())
    text += format("We scored predictions on the {} grid ({}); empty regions follow the rule {}. ",
                   all["evaluate.at"], metrics.substr(1, metrics.size() - 2), all["evaluate.empty"]);
  if (all.has("evaluate.tta")) text += "Predictions were averaged over mirrored inputs. ";
  text +=
      "The epoch was selected on the scored cases, those of the validation, so scores are slightly "
      "optimistic. ";
  const Words repeats = all.values("training.repeats");
  const bool several =
      std::any_of(repeats.begin(), repeats.end(), [](const auto& one) { return one != "1"; });
  if (several && all.has("evaluate.ensemble"))
    text += "Probabilities of repeated trainings were averaged. ";
  else if (several || all.values("training.seed").size() > 1)
    text += "Scores of repeated trainings were averaged per case. ";
  if (is_comparison)
    text +=
        "Differences are paired by case. Their 95 % intervals are bootstrap intervals (BCa, 9999 resamples); "
        "p values are from two-sided Wilcoxon signed-rank tests, Holm-corrected. A difference is significant "
        "if p < 0.05 and the interval excludes 0. ";
  return text;
}

std::string software_paragraph(const RunSettings& all) {
  std::string text = format("We used voxswap {}", all["ran_with.voxswap"]);
  if (const std::string commit = all["ran_with.commit"]; !commit.empty())
    text += format(" (commit {})", commit);
  text += ". ";
  if (const std::string device = all["ran_with.device"]; !device.empty())
    text += format("Device: {}. ", device);
  if (const std::string precision = all["ran_with.precision"]; !precision.empty())
    text += format("Precision: {}. ", precision);
  if (all.has("memory.planner"))
    text += format(
        "The memory planner {} decided which activations were kept, swapped or recomputed, which "
        "does not change results. ",
        all["memory.planner"]);
  return text;
}

}  // namespace

std::string methods_text(const std::vector<RunFolder>& runs) {
  const RunSettings all(runs);
  const bool has_scores =
      std::any_of(runs.begin(), runs.end(), [](const RunFolder& run) { return !run.dice.empty(); });
  const std::pair<const char*, std::string> paragraphs[] = {
      {"Data", data_paragraph(all, runs)},
      {"Preprocessing", preprocessing_paragraph(all)},
      {"Network", network_paragraph(all)},
      {"Training", training_paragraph(all)},
      {"Evaluation", statistics_paragraph(all, has_scores, runs.size() > 1)},
      {"Software", all["ran_with.voxswap"].empty() ? "" : software_paragraph(all)}};
  std::string text = "# Methods\n";
  for (const auto& [title, paragraph] : paragraphs)
    if (!paragraph.empty()) text += format("\n**{}.** {}\n", title, trim(paragraph));
  return text;
}

}  // namespace voxswap::experiments
