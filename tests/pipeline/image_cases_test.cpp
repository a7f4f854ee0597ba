// Tests slices of volumes, single images and classes as samples, and their error messages.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "data/layouts/open_dataset.h"
#include "data/phantoms/phantom.h"
#include "pipeline/cases/cases.h"
#include "pipeline/cases/epoch_sampler.h"
#include "pipeline/cases/patches.h"
#include "pipeline/plan/forecast.h"
#include "pipeline/predict/inference.h"
#include "pipeline/predict/predict.h"
#include "tests/expect.h"
#include "tests/folder.h"

namespace voxswap::pipeline {
namespace {

class ImageCases : public test::InASharedFolder<ImageCases> {
 public:
  static void make() {
    for (const char* layout : {"brats2021", "masks", "classes"})
      data::write_phantoms(
          {.out = folder() / layout, .cases = 4, .size = {16, 16, 16}, .seed = 3, .layout = layout});
  }

 protected:
  static Experiment experiment_with(const std::string& layout, const std::string& network) {
    Experiment experiment;
    experiment.data.root = folder() / layout;
    experiment.preprocess.resolution = {12, 12, 1};
    if (layout == "brats2021") experiment.preprocess.slices = data::Slices::axial;
    experiment.network = {.name = network, .base_filters = 2};
    experiment.training.loss = net::Loss::softmax_cross_entropy;
    experiment.training.augment.symmetries = false;
    experiment.memory.device = "cpu";
    return experiment;
  }
};

std::int64_t labelled_planes(const data::PreparedCase& whole) {
  std::int64_t count = 0;
  for (std::int64_t z = 0; z < whole.size[2]; ++z) {
    const auto plane = whole.truth.begin() + z * 144;
    count += std::any_of(plane, plane + 144, [](std::int16_t label) { return label != 0; });
  }
  return count;
}

TEST_F(ImageCases, SlicesKeepTheirNumberAndThoseWithALabelAreTrainedOnOnce) {
  const Experiment all = experiment_with("brats2021", "deeplabv3");
  Cases cases(all, data::open_dataset(all.data));
  cases.prepare_all({0, 1, 2}, {3});
  std::int64_t labelled = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto whole = cases.prepared(i);
    EXPECT_EQ(whole->size, (Size3{12, 12, whole->box.size[2]}));
    labelled += labelled_planes(*whole);
  }
  EXPECT_EQ(cases.prepared(3)->size[2], cases.prepared(3)->box.size[2]);
  const EpochSampler sampler(all, {}, 7, {0, 1, 2}, 4, cases.sample_counts({0, 1, 2}));
  ASSERT_EQ(sampler.steps(), labelled);
  std::set<std::vector<float>> seen;
  for (std::int64_t step = 0; step < sampler.steps(); ++step) {
    const Sample sample = sampler.batch(cases, 1, step);
    ASSERT_EQ(sample.image.size(), 144U * 4);
    ASSERT_EQ(sample.target.size(), 144U);
    EXPECT_TRUE(std::any_of(sample.target.begin(), sample.target.end(), [](int of) { return of != 0; }));
    const data::NormalizedCase whole = cases.normalized(sample.case_index);
    bool found = false;
    for (std::int64_t z = 0; z < whole.size[2]; ++z)
      found = found || std::equal(sample.image.begin(), sample.image.end(), whole.image.begin() + z * 576);
    EXPECT_TRUE(found) << "a slice of the case that it says it is of";
    seen.insert(sample.image);
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(labelled)) << "each once";
}

TEST_F(ImageCases, AreForecastWithAsManySlices) {
  Experiment all = experiment_with("brats2021", "deeplabv3");
  all.preprocess.crop = data::Crop::none;
  Cases cases(all, data::open_dataset(all.data));
  const Split split = make_split(cases.dataset(), all.split);
  cases.prepare_all(split.training, {});
  std::int64_t counted = 0;
  for (const std::int64_t count : cases.sample_counts(split.training)) counted += count;
  // Resampling in the plane may remove single labelled voxels.
  EXPECT_NEAR(static_cast<double>(data_shape(all).labelled_slices), static_cast<double>(counted), 2);
}

TEST_F(ImageCases, APredictionOfSlicesIsThatOfEachByItself) {
  const Experiment all = experiment_with("brats2021", "deeplabv3");
  Cases cases(all, data::open_dataset(all.data));
  cases.prepare_all({0}, {});
  const data::NormalizedCase whole = cases.normalized(0);
  Session session(all, {}, {4, 4}, Session::Purpose::inference);
  session.initialize(5);
  const std::vector<float> together = infer(session, whole, 4, {.window = input_size(all)});
  ASSERT_EQ(together.size(), whole.truth.size() * 4);
  for (std::int64_t z = 0; z < whole.size[2]; ++z) {
    const std::vector<float> image(whole.image.begin() + z * 576, whole.image.begin() + (z + 1) * 576);
    const std::vector<float> alone = session.predict(image);
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), together.begin() + z * 576)) << z;
  }
}

TEST_F(ImageCases, PicturesHaveTheirMasksForTargets) {
  const Experiment all = experiment_with("masks", "deeplabv3");
  Cases cases(all, data::open_dataset(all.data));
  cases.prepare_all({0, 1, 2}, {3});
  EXPECT_TRUE(cases.sample_counts({0, 1, 2}).empty());
  const Sample sample = cases.sample(1);
  EXPECT_EQ(sample.image.size(), 144U * 3);
  const auto whole = cases.prepared(1);
  const data::Labels& labels = cases.dataset().labels;
  for (std::size_t i = 0; i < 144; ++i) {
    const int value = sample.target[i] == 0 ? 0 : labels[sample.target[i] - 1U].second;
    EXPECT_EQ(value, whole->truth[i]);
  }
}

TEST_F(ImageCases, PicturesOfAClassHaveItsNumberForATarget) {
  const Experiment all = experiment_with("classes", "resnet18");
  Cases cases(all, data::open_dataset(all.data));
  cases.prepare_all({0, 1, 2}, {3});
  EXPECT_EQ(output_names(cases.dataset(), all.training), (std::vector<std::string>{"healthy", "tumor"}));
  for (std::size_t i = 0; i < 4; ++i) {
    const std::uint8_t expected = cases.dataset().cases[i].id.starts_with("tumor") ? 1 : 0;
    EXPECT_EQ(cases.sample(i).target, std::vector<std::uint8_t>{expected});
  }
}

TEST_F(ImageCases, AreRefusedByNetworksThatAreNotForThem) {
  const auto check = [](const Experiment& of) { check_suits(of, data::open_dataset(of.data)); };
  const auto refuse = [&](const Experiment& of, const char* says) {
    test::expect_failure([&] { check(of); }, Exit::usage, {says});
  };
  EXPECT_NO_THROW(check(experiment_with("brats2021", "deeplabv3")));
  EXPECT_NO_THROW(check(experiment_with("masks", "deeplabv3")));
  EXPECT_NO_THROW(check(experiment_with("classes", "resnet18")));
  refuse(experiment_with("masks", "unet3d"), "needs volumes");
  refuse(experiment_with("masks", "resnet18"), "a whole image");
  refuse(experiment_with("classes", "deeplabv3"), "Use a resnet");
  Experiment whole = experiment_with("brats2021", "deeplabv3"),
             sliced = experiment_with("masks", "deeplabv3");
  whole.preprocess.slices = data::Slices::none;
  sliced.preprocess.slices = data::Slices::axial;
  refuse(whole, "preprocess.slices");
  refuse(sliced, "needs volumes");
}

TEST(SoftmaxDecoder, GivesTheLargestOfAllClassesWhateverItsSize) {
  data::Dataset dataset;
  dataset.labels = {{"a", 3}, {"b", 7}};
  TrainingOptions training;
  training.loss = net::Loss::softmax_cross_entropy;
  EXPECT_EQ(output_count(dataset, training), 3);
  EXPECT_EQ(output_names(dataset, training), (std::vector<std::string>{"background", "a", "b"}));
  const LabelDecoder decoder = make_decoder(dataset, training);
  const std::vector<float> probabilities = {0.4F, 0.35F, 0.25F, 0.3F, 0.4F, 0.3F, 0.2F, 0.3F, 0.5F};
  EXPECT_EQ(decoder.decode(probabilities), (std::vector<std::int16_t>{0, 3, 7}));
}

}  // namespace
}  // namespace voxswap::pipeline
