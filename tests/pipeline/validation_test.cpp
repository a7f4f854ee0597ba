// Compares validations that count label pairs on the device with those that decide labels from probabilities
// on the host: loss and Dice are identical to the bit, and so are the label maps.
#include "pipeline/train/validation.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/philox.h"
#include "base/text.h"
#include "pipeline/cases/label_decoder.h"
#include "tests/costs.h"
#include "tests/folder.h"
#include "tests/net/rank_threads.h"

namespace voxswap::pipeline {
namespace {

constexpr std::int64_t side = 16;
constexpr std::int16_t unnamed = 9, ignored = 3;

// Labels 1, 2 and 4 in overlapping regions. The second case is partially annotated.
data::Dataset dataset() {
  data::Dataset made;
  made.modalities = {"t1", "flair"};
  made.labels = {{"necrosis", 1}, {"oedema", 2}, {"enhancing", 4}};
  made.regions = {{"whole_tumor", {1, 2, 4}}, {"tumor_core", {1, 4}}, {"enhancing_tumor", {4}}};
  for (const char* id : {"a", "b", "c"}) made.cases.emplace_back().id = id;
  return made;
}

data::PreparedCase prepared_case(std::size_t number, const Size3& size) {
  data::PreparedCase made;
  made.id = std::string(1, "abc"[number]);
  made.size = size;
  made.channels = 2;
  const auto voxels = static_cast<std::size_t>(size[0] * size[1] * size[2]);
  const Philox random(3, number);
  for (std::size_t i = 0; i < 2 * voxels; ++i) made.image.push_back(random.uniform(i));
  for (std::size_t i = 0; i < voxels; ++i)  // runs of a label, also of one without a name
    made.truth.push_back(std::array<std::int16_t, 6>{0, 1, 2, 4, ignored, unnamed}[random.word(i / 7) % 6]);
  made.statistics.mean = made.statistics.deviation = {0.5, 0.5};
  made.background = {0, 0};
  made.original.size = made.stored.size = size;
  made.box = {{0, 0, 0}, size};
  return made;
}

// A kind of data set and training, and the size of all cases but the first.
struct Setting {
  const char* name;
  Targets targets = Targets::labels;
  net::Loss loss = net::Loss::weighted_dice;
  int ignore_label = 0;
  bool partly_annotated = false;
  Size3 size{side, side, side};
};
const std::vector<Setting> settings = {
    {"labels"},
    {"regions", Targets::regions},
    {"both", Targets::both},
    {"classes", Targets::labels, net::Loss::softmax_dice_cross_entropy},
    {"an ignored label", Targets::regions, net::Loss::weighted_dice, ignored},
    {"a case that is partially annotated", Targets::labels, net::Loss::dice_cross_entropy, 0, true},
    {"padded", Targets::labels, net::Loss::weighted_dice, ignored, false, {side, 11, 13}},
    {"larger than the input",
     Targets::labels,
     net::Loss::weighted_dice,
     ignored,
     false,
     {side + 4, side, 11}},
    {"images", Targets::labels, net::Loss::softmax_cross_entropy, 0, false, {side, side, 1}},
};

// Loss and Dice of the cases, and their ground truths and label maps.
struct Found {
  std::vector<double> numbers;
  std::vector<std::vector<std::int16_t>> maps;
  bool operator==(const Found&) const = default;
};

class Validations : public test::InASharedFolder<Validations> {
 public:
  static void make() { test::share_costs(folder()); }

 protected:
  static Experiment experiment_of(const Setting& setting) {
    Experiment experiment;
    experiment.cache = folder();
    experiment.memory.device = "reference";
    experiment.memory.planner = "keep";
    experiment.memory.budget_bytes = std::int64_t{1} << 30;
    experiment.network = {.base_filters = 2, .depth = 3};
    experiment.training.precision = Precision::f32;
    experiment.training.targets = setting.targets;
    experiment.training.loss = setting.loss;
    experiment.preprocess.resolution = {side, side, setting.size[2] == 1 ? 1 : side};
    if (setting.size[2] == 1) experiment.network = {.name = "deeplabv3", .base_filters = 2, .dropout = 0};
    if (setting.size != experiment.preprocess.resolution) experiment.preprocess.spacing = {1, 1, 1};
    return experiment;
  }

  static Found validate_with(const Experiment& experiment, const Setting& setting, bool on_device,
                             net::Ranks& ranks = net::alone()) {
    data::Dataset data = dataset();
    data.ignore_label = setting.ignore_label;
    data.images = setting.size[2] == 1;
    if (setting.partly_annotated) data.cases[1].annotated = std::set<int>{1, 4};
    Experiment in_memory = experiment;
    in_memory.cache.clear();
    Cases cases(in_memory, data);
    const Size3& full = experiment.preprocess.resolution;
    for (std::size_t i = 0; i < data.cases.size(); ++i)
      cases.keep(i, prepared_case(i, i == 0 ? full : setting.size));
    cases.prepare_all({0}, {1, 2});
    const RunContext context{.ranks = {ranks, 0}};
    StepData step{
        .channels = 2, .outputs = output_count(data, experiment.training), .unknown = unknown_in(data)};
    if (on_device) step.labels = label_options(experiment, data);
    Session session(experiment, context, step, Session::Purpose::training);
    session.initialize(5);
    EXPECT_EQ(session.counts_labels(), on_device);
    Found found;
    TimeLeft left({}, 1, 1);
    const Look look = [&](const data::PreparedCase&, std::vector<std::int16_t> truth,
                          std::vector<std::int16_t> labels) {
      found.maps.push_back(std::move(truth));
      found.maps.push_back(std::move(labels));
    };
    for (const Look& taken : {look, Look()}) {
      const auto validation = validate(experiment, context.ranks, session, cases, {0, 1, 2}, left,
                                       context.ranks.all().is_first() ? taken : Look());
      found.numbers.push_back(validation->loss());
      for (const auto& [region, dice] : validation->dice()) found.numbers.push_back(dice);
    }
    return found;
  }
};

TEST_F(Validations, FindTheNumbersAndLabelsOfTheHostOnTheDevice) {
  for (const Setting& setting : settings) {
    const Experiment experiment = experiment_of(setting);
    const Found expected = validate_with(experiment, setting, false);
    EXPECT_TRUE(validate_with(experiment, setting, true) == expected) << setting.name;
    ASSERT_EQ(expected.maps.size(), 6u);
    // A network that is not trained gives all pixels of an image one label.
    for (std::size_t i = 1; i < (setting.size[2] == 1 ? 2 : 4); ++i) {
      EXPECT_GT(expected.numbers[i], 0) << setting.name;
      EXPECT_LT(expected.numbers[i], 1) << setting.name;
    }
  }
}

TEST_F(Validations, FindThemInSlabsAndWithEveryPlanner) {
  const Setting& setting = settings[2];
  Experiment experiment = experiment_of(setting);
  experiment.memory.slabs = 4;
  const Found expected = validate_with(experiment, setting, false);
  for (const char* planner : {"keep", "hybrid", "checkpoint", "tflms", "lms-threshold"}) {
    experiment.memory.planner = planner;
    EXPECT_TRUE(validate_with(experiment, setting, true) == expected) << planner;
  }
}

TEST_F(Validations, FindThemOnRanksThatShareVolumes) {
  for (const std::size_t index : {std::size_t{4}, std::size_t{6}, std::size_t{8}}) {
    const Setting& setting = settings[index];
    const Experiment experiment = experiment_of(setting);
    const Found expected = validate_with(experiment, setting, false);
    const std::vector<Found> found = test::on_ranks<Found>(
        2, [&](net::Ranks& ranks) { return validate_with(experiment, setting, true, ranks); });
    EXPECT_TRUE(found[0] == expected) << setting.name;
    EXPECT_EQ(found[1].numbers, expected.numbers) << setting.name;
    EXPECT_TRUE(found[1].maps.empty());
  }
}

// The step then ends in labels instead of probabilities. Its tables take less than 1 KiB.
TEST_F(Validations, PlanAtMostALabelMapMoreThanWithProbabilities) {
  for (const std::int64_t slabs : {net::whole_volumes, std::int64_t{4}}) {
    Experiment experiment = experiment_of(settings[0]);
    experiment.memory.slabs = slabs;
    const auto peak = [&](const net::LabelOptions& labels) {
      const StepData data{.channels = 2, .outputs = 3, .labels = labels};
      const Target target = open_target(experiment);
      const Steps steps = build_steps(experiment, data, target, true);
      return plan_staying(plannable_inference(target, experiment.memory, steps.inference, nullptr).problem)
          ->peak_bytes;
    };
    EXPECT_LE(peak(label_options(experiment, dataset())), peak({}) + 2 * side * side * side + 1024);
  }
}

}  // namespace
}  // namespace voxswap::pipeline
