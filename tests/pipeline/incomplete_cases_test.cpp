// Tests incomplete cases: channels without files, and truths in which only some labels are annotated.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/csv.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "data/cases/check.h"
#include "data/formats/image_io.h"
#include "data/formats/image_writing.h"
#include "data/layouts/open_dataset.h"
#include "data/phantoms/phantom.h"
#include "pipeline/cases/loss_settings.h"
#include "pipeline/predict/new_scans.h"
#include "pipeline/train/train.h"
#include "pipeline/train/validation.h"
#include "tests/expect.h"
#include "tests/folder.h"

namespace voxswap::pipeline {
namespace {

using test::contains;

class IncompleteCases : public test::InAFolder {
 protected:
  IncompleteCases() {
    data::write_phantoms({.out = folder_ / "data", .cases = 4, .size = {16, 16, 16}, .seed = 3});
    experiment_.data.root = folder_ / "data";
    experiment_.preprocess.resolution = {12, 12, 12};
    experiment_.training.loss = net::Loss::dice_cross_entropy;
    experiment_.training.augment.symmetries = false;
    experiment_.network = {.base_filters = 2, .depth = 2};
    experiment_.memory.device = "reference";
  }

  fs::path file(int number, const std::string& what) const {
    const std::string id = format("BraTS2021_{:05}", number);
    return folder_ / "data" / id / format("{}_{}.nii.gz", id, what);
  }
  // Case 1 lacks t2; in case 2 only oedema is annotated.
  void take_away() {
    fs::remove(file(1, "t2"));
    data::LabelMap truth = data::read_label_map(file(2, "seg"));
    std::replace_if(
        truth.voxels.begin(), truth.voxels.end(), [](std::int16_t label) { return label != 2; }, 0);
    data::write_label_map(file(2, "seg"), truth);
    write_file(folder_ / "annotated.csv", "case,labels\nBraTS2021_00002, oedema\n");
    experiment_.data.missing_modalities = true;
    experiment_.data.annotated = folder_ / "annotated.csv";
  }
  void expect_refusal(Exit exit, const std::vector<std::string>& parts) const {
    const auto prepare = [&] {
      const data::Dataset dataset = data::open_dataset(experiment_.data);
      weights_by_name(experiment_.training, dataset);
      Cases(experiment_, dataset).prepare_all({0, 1, 2}, {3});
    };
    test::expect_failure(prepare, exit, parts);
  }

  Experiment experiment_;
};

TEST_F(IncompleteCases, AreRefusedUnlessTheExperimentAllowsThem) {
  take_away();
  experiment_.data.missing_modalities = false;
  expect_refusal(Exit::bad_data, {"channel t2 is missing", "data.missing_modalities: true"});
}

TEST_F(IncompleteCases, HaveZerosForAMissingChannelAfterAnyNormalisationAndAugmentation) {
  take_away();
  for (const data::Normalize normalize :
       {data::Normalize::dataset, data::Normalize::image, data::Normalize::masked, data::Normalize::whole}) {
    experiment_.preprocess.normalize = normalize;
    experiment_.preprocess.background = normalize == data::Normalize::masked ? -1 : 0;
    Cases cases(experiment_, data::open_dataset(experiment_.data));
    cases.prepare_all({0, 1, 2}, {3});
    const auto& names = cases.dataset().modalities;
    const auto lacking =
        static_cast<std::size_t>(std::find(names.begin(), names.end(), "t2") - names.begin());
    data::AugmentOptions augment;
    augment.brightness = {0.5, 0.9, 1};
    for (const Sample& sample : {cases.sample(1), cases.sample(1, augment, {1, 1, 1})}) {
      double others = 0;
      for (std::size_t i = 0; i < sample.image.size(); ++i) {
        if (i % names.size() == lacking)
          ASSERT_EQ(sample.image[i], 0);
        else
          others += std::abs(static_cast<double>(sample.image[i]));
      }
      EXPECT_GT(others, 100);
    }
  }
}

// The mean covers only the cases that have the channel.
TEST_F(IncompleteCases, SayNothingOfTheDataSetsNormalisation) {
  take_away();
  Cases with(experiment_, data::open_dataset(experiment_.data)),
      without(experiment_, data::open_dataset(experiment_.data));
  with.prepare_all({0, 1}, {});
  without.prepare_all({0}, {});
  const auto& names = with.dataset().modalities;
  const auto t2 = static_cast<std::size_t>(std::find(names.begin(), names.end(), "t2") - names.begin());
  const Sample a = with.sample(0), b = without.sample(0);
  bool others_differ = false;
  for (std::size_t i = 0; i < a.image.size(); ++i) {
    if (i % names.size() == t2)
      ASSERT_EQ(a.image[i], b.image[i]);
    else
      others_differ = others_differ || a.image[i] != b.image[i];
  }
  EXPECT_TRUE(others_differ);
}

TEST_F(IncompleteCases, MarkOutputsOfWhichATruthDoesNotTell) {
  take_away();
  for (const Targets targets : {Targets::labels, Targets::regions}) {
    experiment_.training.targets = targets;
    Cases cases(experiment_, data::open_dataset(experiment_.data));
    cases.prepare_all({0, 2}, {});
    EXPECT_EQ(unknown_in(cases.dataset()), net::Unknown::outputs);
    const std::vector<std::vector<int>> outputs = output_classes(cases.dataset(), experiment_.training);
    ASSERT_EQ(outputs.size(), 3u);
    for (const std::size_t index : {0u, 2u}) {
      const Sample sample = cases.sample(index);
      for (std::size_t c = 0; c < outputs.size(); ++c) {
        const bool known = index == 0 || outputs[c] == std::vector<int>{2};
        for (const std::uint8_t bits : sample.target) ASSERT_EQ((bits >> (3 + c) & 1) == 0, known) << c;
      }
    }
  }
}

TEST_F(IncompleteCases, ThatTellOfNoClassForEveryVoxelAreRefusedByALossOfClasses) {
  take_away();
  experiment_.training.loss = net::Loss::softmax_dice_cross_entropy;
  expect_refusal(Exit::usage, {"Use dice_cross_entropy"});
}

TEST_F(IncompleteCases, AreRefusedWhereTheirTableDoesNotMatchTheDataSet) {
  take_away();
  for (const auto& [row, exit, says] : std::vector<std::tuple<std::string, Exit, std::string>>{
           {"BraTS2021_00001,oedema;enhancing", Exit::bad_data,
            "contains the label necrosis, which is not annotated"},
           {"BraTS2021_00002,odema", Exit::usage, "Did you mean 'oedema'?"},
           {"BraTS2021_7,oedema", Exit::bad_data, "'BraTS2021_7' is not in the data set"},
           {"BraTS2021_00002,", Exit::bad_data, "has no label"}}) {
    SCOPED_TRACE(row);
    write_file(folder_ / "annotated.csv", "case,labels\n" + row + "\n");
    expect_refusal(exit, {says});
  }
}

TEST_F(IncompleteCases, WeighOutputsByTheTruthsThatTellOfThem) {
  take_away();
  Cases cases(experiment_, data::open_dataset(experiment_.data));
  cases.prepare_all({0, 2}, {});
  const std::vector<double> weights = weights_by_frequency(experiment_.training, cases, {0, 2});
  const std::vector<std::vector<int>> outputs = output_classes(cases.dataset(), experiment_.training);
  for (std::size_t c = 0; c < outputs.size(); ++c) {
    double own = 0, all = 0;
    for (const std::size_t index : {0u, 2u}) {
      if (index == 2 && outputs[c][0] != 2) continue;
      const auto& truth = cases.prepared(index)->truth;
      own += static_cast<double>(std::count(truth.begin(), truth.end(), outputs[c][0]));
      all += static_cast<double>(truth.size());
    }
    EXPECT_DOUBLE_EQ(weights[c], 1 / std::log(1.02 + own / all)) << c;
  }
}

TEST_F(IncompleteCases, AreReportedByTheCheckAsWarnings) {
  take_away();
  const data::CheckReport report = data::check_dataset({experiment_.data, false, 0});
  std::string messages;
  for (const data::Problem& problem : report.problems) {
    EXPECT_NE(problem.severity, "error") << problem.what;
    messages += problem.what + "\n";
  }
  EXPECT_TRUE(contains(messages, "t2 in 1 of 4 cases", "1 of 4 cases are partially annotated"));
}

// Runs everything: unknown regions are not scored, and a prediction's record lists missing channels.
TEST_F(IncompleteCases, TrainValidateAndPredict) {
  take_away();
  experiment_.output = folder_ / "run";
  experiment_.training.epochs = 1;
  write_file(folder_ / "split.csv",
             "case,part\nBraTS2021_00000,training\nBraTS2021_00001,training\nBraTS2021_00002,validation\n"
             "BraTS2021_00003,validation\n");
  experiment_.split.file = folder_ / "split.csv";
  run(experiment_, {}, [](const fs::path&) { return SettingList(); });
  const Csv dice = read_csv(experiment_.output / "dice.csv");
  std::size_t unknown = 0;
  for (const auto& row : dice.rows) {
    const bool scored = row[dice.column("dice", "")] != "nan";
    EXPECT_EQ(scored, row[dice.column("case", "")] == "BraTS2021_00003") << row[dice.column("region", "")];
    unknown += scored ? 0 : 1;
  }
  EXPECT_EQ(unknown, 3u);  // no region consists of oedema alone
  const Csv validation = read_csv(experiment_.output / "validation.csv");
  for (const auto& row : validation.rows)
    EXPECT_TRUE(std::isfinite(std::stod(row[validation.column("dice", "")])));

  predict({{experiment_}}, folder_ / "data", folder_ / "out", {});
  const Json record = Json::parse(read_file(folder_ / "out" / "prediction.json"));
  const Json missing = record.at("predictions").at(0).at("missing_modalities");
  EXPECT_EQ(missing, Json({{"BraTS2021_00001", {"t2"}}}));
  EXPECT_TRUE(fs::exists(folder_ / "out" / "BraTS2021_00001.nii.gz"));
}

}  // namespace
}  // namespace voxswap::pipeline
