// Tests the way from probabilities to label maps: the decision by channel, resampling onto the case's grid,
// and keeping only the largest component of a region.
#include "pipeline/predict/predict.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/outputs.h"
#include "base/philox.h"
#include "pipeline/predict/postprocessing.h"
#include "pipeline/predict/prediction_record.h"
#include "pipeline/report/palette.h"
#include "tests/data/support.h"
#include "tests/expect.h"
#include "tests/folder.h"

namespace voxswap::pipeline {
namespace {

data::Dataset brats_dataset() {
  data::Dataset dataset;
  dataset.labels = {{"necrosis", 1}, {"oedema", 2}, {"enhancing", 4}};
  dataset.regions = {{"whole_tumor", {1, 2, 4}}, {"tumor_core", {1, 4}}, {"enhancing_tumor", {4}}};
  return dataset;
}

TrainingOptions training_on(Targets targets) {
  TrainingOptions training;
  training.targets = targets;
  return training;
}

TEST(Decoder, WritesTheLabelOfTheLargestProbabilityOfAtLeastOneHalf) {
  const LabelDecoder decoder = make_decoder(brats_dataset(), training_on(Targets::labels));
  const std::vector<float> probabilities = {0.1f, 0.2f, 0.3f,   // none reaches one half
                                            0.5f, 0.4f, 0.1f,   // necrosis, at the threshold
                                            0.6f, 0.9f, 0.7f,   // oedema
                                            0.0f, 0.0f, 1.0f};  // enhancing: value 4
  EXPECT_EQ(decoder.decode(probabilities), (std::vector<std::int16_t>{0, 1, 2, 4}));
}

TEST(Decoder, TurnsNestedRegionsIntoTheLabelsTheyLeaveOver) {
  const LabelDecoder decoder = make_decoder(brats_dataset(), training_on(Targets::regions));
  const std::vector<float> probabilities = {0.9f, 0.1f, 0.1f,   // whole tumour only: oedema
                                            0.9f, 0.8f, 0.2f,   // core without enhancement: necrosis
                                            0.9f, 0.8f, 0.7f,   // enhancing
                                            0.2f, 0.3f, 0.4f};  // background
  EXPECT_EQ(decoder.decode(probabilities), (std::vector<std::int16_t>{2, 1, 4, 0}));
}

// Channels: whole tumour, core (the enhancing tumour is a label by itself), necrosis, oedema, enhancing.
TEST(Decoder, OfRegionsAndLabelsWritesTheLargestLabelOverTheRegions) {
  const TrainingOptions training = training_on(Targets::both);
  EXPECT_EQ(output_names(brats_dataset(), training),
            (std::vector<std::string>{"whole_tumor", "tumor_core", "necrosis", "oedema", "enhancing"}));
  const LabelDecoder decoder = make_decoder(brats_dataset(), training);
  const std::vector<float> probabilities = {0.9f, 0.2f, 0.1f, 0.1f, 0.1f,   // whole tumour: oedema
                                            0.9f, 0.8f, 0.1f, 0.1f, 0.1f,   // core: necrosis or enhancing
                                            0.9f, 0.8f, 0.6f, 0.5f, 0.7f,   // the largest label
                                            0.1f, 0.1f, 0.1f, 0.6f, 0.1f,   // a label without its region
                                            0.4f, 0.4f, 0.4f, 0.4f, 0.4f};  // background
  EXPECT_EQ(decoder.decode(probabilities), (std::vector<std::int16_t>{2, 1, 4, 2, 0}));
}

// Channel by channel, in the order of the decoder.
std::vector<std::int16_t> decoded_by_channel(const LabelDecoder& decoder, const std::vector<float>& values) {
  const std::size_t channels = decoder.values.size(), voxels = values.size() / channels;
  std::vector<float> largest(voxels, decoder.lowest);
  std::vector<std::int16_t> labels(voxels);
  for (const std::size_t channel : decoder.sequence)
    for (std::size_t v = 0; v < voxels; ++v) {
      const float p = values[v * channels + channel];
      if (channel >= decoder.nested && !(p > largest[v])) continue;
      if (channel >= decoder.nested) largest[v] = p;
      if (p >= decoder.least) labels[v] = decoder.values[channel];
    }
  return labels;
}

// With ties, signed zeros, infinite values and values that are not numbers.
TEST(Decoder, EqualsADecisionChannelByChannel) {
  const Philox random(8, 1);
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> rare = {nan, -infinity, infinity, -0.0F, 0.0F, 0.5F};
  for (const std::size_t channels : {1, 2, 5, 31, 32, 33, 117}) {
    for (const std::size_t nested : {std::size_t{0}, std::min<std::size_t>(3, channels)}) {
      LabelDecoder decoder;
      decoder.nested = nested;
      for (std::size_t c = 0; c < channels; ++c) {
        decoder.values.push_back(static_cast<std::int16_t>(c + 1));
        decoder.sequence.push_back(c);
      }
      std::reverse(decoder.sequence.begin(), decoder.sequence.begin() + static_cast<std::ptrdiff_t>(nested));
      std::vector<float> values(2000 * channels);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::uint32_t drawn = random.word(i);
        values[i] = drawn % 8 == 0 ? rare[drawn / 8 % rare.size()] : static_cast<float>(drawn / 8 % 64) / 64;
      }
      for (const auto& [least, lowest] :
           {std::pair{0.5F, 0.0F},
            {0.0F, 0.0F},
            {std::numeric_limits<float>::lowest(), std::numeric_limits<float>::lowest()}}) {
        decoder.least = least;
        decoder.lowest = lowest;
        EXPECT_EQ(decoder.decode(values), decoded_by_channel(decoder, values)) << channels << " " << nested;
      }
    }
  }
}

// A crop of 40 x 30 x 200 voxels was resized to 16^3: more planes than are decided at once.
data::PreparedCase large_case() {
  data::PreparedCase prepared;
  prepared.size = {16, 16, 16};
  prepared.channels = 1;
  prepared.original.size = {300, 150, 210};
  prepared.original.spacing = {0.7, 0.8, 1.5};
  prepared.box = {{5, 6, 7}, {290, 130, 200}};
  return prepared;
}

std::vector<float> random_probabilities(std::size_t channels) {
  const Philox random(4, 2);
  std::vector<float> probabilities(16 * 16 * 16 * channels);
  for (std::size_t i = 0; i < probabilities.size(); ++i) probabilities[i] = random.uniform(i);
  return probabilities;
}

data::Image channel_of(const data::PreparedCase& prepared, const std::vector<float>& probabilities,
                       std::size_t channel, std::size_t channels) {
  data::Image image{prepared.training_geometry(), {}};
  for (std::size_t i = channel; i < probabilities.size(); i += channels)
    image.voxels.push_back(probabilities[i]);
  return image;
}

// The streamed decision equals one that holds all channels in memory.
TEST(Decision, OnTheCasesOwnGridIsThatOfAllChannelsResampledWhole) {
  const data::PreparedCase prepared = large_case();
  const std::vector<float> maps = random_probabilities(3);
  for (const Targets targets : {Targets::labels, Targets::regions}) {
    const LabelDecoder decoder = make_decoder(brats_dataset(), training_on(targets));
    const auto voxels = static_cast<std::size_t>(290 * 130 * 200);
    std::vector<float> fine(3 * voxels);
    for (std::size_t c = 0; c < 3; ++c) {
      const data::Image whole = data::resample_linear(channel_of(prepared, maps, c, 3), prepared.box.size);
      for (std::size_t v = 0; v < voxels; ++v) fine[3 * v + c] = whole.voxels[v];
    }
    data::LabelMap on_box{data::crop_geometry(prepared.original, prepared.box), decoder.decode(fine)};
    const Prediction found = decide(maps, prepared, decoder);
    EXPECT_EQ(found.native.voxels, test::restored(on_box, prepared.box, prepared.original).voxels)
        << choice_name(targets);
    EXPECT_EQ(found.native.geometry, prepared.original);
    EXPECT_EQ(found.on_training_grid.geometry.size, prepared.size);
    EXPECT_GT(std::count(found.native.voxels.begin(), found.native.voxels.end(), 4), 1000);
  }
}

// For any number of planes per call, and for crops with more or fewer planes than the training grid.
TEST(Decision, IsTheSameForPlanesThatComeAFewAtATime) {
  data::PreparedCase prepared = large_case();
  const std::vector<float> maps = random_probabilities(5);
  const LabelDecoder decoder = make_decoder(brats_dataset(), training_on(Targets::both));
  for (const std::int64_t depth : {200, 17, 16, 15, 5, 1}) {
    prepared.box.size[2] = depth;
    const Prediction whole = decide(maps, prepared, decoder);
    for (const std::size_t planes : {1, 3, 16}) {
      Prediction found;
      Decision decision(prepared, decoder, append_to(found.native.voxels),
                        append_to(found.on_training_grid.voxels));
      for (std::size_t first = 0; first < 16; first += planes)
        decision.add(
            std::span(maps).subspan(first * 16 * 16 * 5, std::min(planes, 16 - first) * 16 * 16 * 5));
      decision.finish();
      EXPECT_EQ(found.native.voxels, whole.native.voxels) << depth << " " << planes;
      EXPECT_EQ(found.on_training_grid.voxels, whole.on_training_grid.voxels) << depth << " " << planes;
    }
  }
}

// In memory and on disk.
TEST(Probabilities, OnTheCasesOwnGridAreThoseOfEachOutputResampledWhole) {
  const test::TemporaryFolder folder;
  const data::PreparedCase prepared = large_case();
  const std::vector<float> maps = random_probabilities(3);
  const LabelDecoder decoder = make_decoder(brats_dataset(), training_on(Targets::labels));
  for (const std::int64_t most_bytes : {std::int64_t{1} << 40, std::int64_t{1} << 20}) {
    Scratch scratch{most_bytes, folder.path(), /*resident_bytes=*/0};
    ProbabilityStore store(prepared, 3, scratch);
    EXPECT_EQ(store.is_on_disk(), most_bytes == 1 << 20);
    std::vector<std::int16_t> labels;
    Decision decision(prepared, decoder, append_to(labels), {}, &store);
    decision.add(maps);
    decision.finish();
    EXPECT_EQ(labels, decide(maps, prepared, decoder).native.voxels);
    for (std::size_t c = 0; c < 3; ++c) {
      const data::Image native = store.output(c);
      const data::Image expected = data::resample_linear(channel_of(prepared, maps, c, 3), prepared.box.size);
      EXPECT_EQ(native.geometry, prepared.original);
      EXPECT_EQ(data::crop(native, prepared.box).voxels, expected.voxels);
      EXPECT_EQ(native.at(4, 6, 7), 0);
      EXPECT_EQ(native.at(295, 135, 206), 0);
    }
  }
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

data::LabelMap row_volume(std::vector<std::int16_t> labels) {
  data::LabelMap map;
  map.geometry.size = {static_cast<std::int64_t>(labels.size()), 1, 1};
  map.voxels = std::move(labels);
  return map;
}

std::vector<std::int16_t> kept(std::vector<std::int16_t> labels, const std::vector<std::string>& names) {
  data::LabelMap map = row_volume(std::move(labels));
  keep_largest_components(map, choose_regions(brats_dataset().regions, names), brats_dataset().regions);
  return map.voxels;
}

TEST(LargestComponent, OfAnOutermostRegionLeavesBackgroundElsewhere) {
  EXPECT_EQ(kept({2, 2, 1, 4, 0, 2, 4, 0, 2}, {"whole_tumor"}),
            (std::vector<std::int16_t>{2, 2, 1, 4, 0, 0, 0, 0, 0}));
}

TEST(LargestComponent, OfAnInnerRegionLeavesWhatTheRegionAroundItIs) {
  EXPECT_EQ(kept({4, 4, 2, 4, 1, 2, 1}, {"enhancing_tumor"}),
            (std::vector<std::int16_t>{4, 4, 2, 1, 1, 2, 1}));  // enhancing -> necrosis
  EXPECT_EQ(kept({4, 4, 1, 2, 1, 4, 2}, {"tumor_core"}),
            (std::vector<std::int16_t>{4, 4, 1, 2, 2, 2, 2}));  // core -> oedema
}

TEST(LargestComponent, OfAllTakesTheOuterRegionsFirst) {
  EXPECT_EQ(kept({4, 4, 4, 0, 2, 2, 4, 1, 2, 0}, {"all"}),
            (std::vector<std::int16_t>{0, 0, 0, 0, 2, 2, 4, 1, 2, 0}));
}

TEST(LargestComponent, OfNothingAndOfOneChangesNothing) {
  EXPECT_EQ(kept({0, 0, 0}, {"all"}), (std::vector<std::int16_t>{0, 0, 0}));
  EXPECT_EQ(kept({2, 1, 4}, {"all"}), (std::vector<std::int16_t>{2, 1, 4}));
  EXPECT_EQ(kept({2, 0, 4}, {}), (std::vector<std::int16_t>{2, 0, 4}));
  EXPECT_THROW(choose_regions(brats_dataset().regions, {"tumour"}), Error);
}

// A data set with two labels, for tests of the prediction files.
data::Dataset dataset() {
  data::Dataset made;
  made.labels = {{"necrosis", 1}, {"oedema", 2}};
  return made;
}

TEST(PredictionFiles, GiveALabelTheColourOfTheRegionThatItIs) {
  data::Dataset trained = dataset();
  trained.regions = {{"whole_tumor", {1, 2}}, {"oedema", {2}}};
  const std::vector<data::Segment> segments = segments_of(trained);
  ASSERT_EQ(segments.size(), 2u);
  EXPECT_EQ(segments[0].color, palette_color(2));
  EXPECT_EQ(segments[1].color, palette_color(1));
}

TEST(PredictionFiles, AreNamedAfterCases) {
  const data::Dataset trained = dataset();
  PredictOptions how;
  how.probabilities = how.segmentations = true;
  const PredictionFiles files("out", trained, how);
  const std::vector<fs::path> all = {"out/a.nii.gz", "out/a.seg.nrrd", "out/probabilities/a_oedema.nii.gz"};
  EXPECT_EQ(files.of_case("a", {"oedema"}), all);
  ASSERT_EQ(files.shared().size(), 1u);
  EXPECT_EQ(files.shared()[0].first, "out/itksnap_labels.txt");
}

// A record that was downloaded or edited may name any file.
TEST(PredictionRecord, RemovesFilesThatVoxswapWroteAndNoOthers) {
  const test::TemporaryFolder folder;
  const fs::path out = folder.path() / "out";
  fs::create_directories(out / "sub");
  fs::create_directories(folder.path() / "else");
  fs::create_directory_symlink(folder.path() / "else", out / "link");
  const std::vector<const char*> others = {"thesis.txt", "sub/a.txt", "link/v.txt", "a.seg.nrrd"};
  const Outputs outputs(false);
  for (const char* name : {"former.seg.nrrd", "a.seg.nrrd", "link/v.txt"})
    outputs.write(out / name, [&] { write_file(out / name, "found"); });
  for (const char* name : {"thesis.txt", "sub/a.txt", "a.seg.nrrd"}) write_file(out / name, "by hand");
  Json entry = {{"cases", {{"a", others}}}};
  entry["cases"]["a"].push_back("former.seg.nrrd");
  write_file(out / "prediction.json", Json{{"predictions", {entry}}}.dump());
  {
    PredictionRecord record(out, {TrainedRun()}, folder.path(), {});
    record.wrote("a", out / "a.nii.gz");
  }
  for (const char* name : others) EXPECT_TRUE(fs::exists(out / name)) << name;
  EXPECT_FALSE(fs::exists(out / "former.seg.nrrd"));

  entry["cases"]["a"] = {"../else/v.txt"};
  write_file(out / "prediction.json", Json{{"predictions", {entry}}}.dump());
  test::expect_failure([&] { PredictionRecord(out, {TrainedRun()}, folder.path(), {}); }, Exit::bad_data,
                       {"is not a record"});
}

TEST(PredictionFiles, AreABidsDerivativeWithSubjectsAndSessions) {
  const data::Dataset trained = dataset();
  PredictOptions how;
  how.version = "9.9";
  how.probabilities = how.bids = true;
  const PredictionFiles files("out", trained, how);
  EXPECT_EQ(files.label_map("sub-01"), "out/sub-01/anat/sub-01_desc-voxswap_dseg.nii.gz");
  EXPECT_EQ(files.label_map("sub-01_ses-b"), "out/sub-01/ses-b/anat/sub-01_ses-b_desc-voxswap_dseg.nii.gz");
  EXPECT_EQ(files.label_map("BraTS2021_00005"),
            "out/sub-BraTS202100005/anat/sub-BraTS202100005_desc-voxswap_dseg.nii.gz");
  EXPECT_EQ(files.probability("sub-01", "tumor_core"),
            "out/sub-01/anat/sub-01_label-tumorcore_desc-voxswap_probseg.nii.gz");
  const auto shared = files.shared();
  ASSERT_EQ(shared.size(), 3u);
  const Json description = Json::parse(shared[0].second);
  EXPECT_EQ(description["DatasetType"], "derivative");
  EXPECT_EQ(description["GeneratedBy"][0]["Name"], "voxswap");
  EXPECT_EQ(shared[1].second, "index\tname\n0\tbackground\n1\tnecrosis\n2\toedema\n");
}

}  // namespace
}  // namespace voxswap::pipeline
