// Samples are a function of seed, epoch and case, independent of the thread, the time and the rest of the
// batch.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "data/layouts/open_dataset.h"
#include "data/phantoms/phantom.h"
#include "pipeline/cases/cases.h"
#include "pipeline/cases/epoch_sampler.h"
#include "tests/folder.h"
#include "tests/net/rank_threads.h"

namespace voxswap::pipeline {
namespace {

class Loading : public test::InASharedFolder<Loading> {
 public:
  static void make() {
    data::write_phantoms({.out = folder() / "phantom", .cases = 4, .size = {16, 16, 16}, .seed = 3});
  }

 protected:
  static Experiment small_experiment() {
    Experiment experiment;
    experiment.data.root = folder() / "phantom";
    experiment.preprocess.resolution = {12, 12, 12};
    experiment.training.batch_size = 2;
    experiment.training.augment = data::nnunet_augmentation();
    experiment.training.augment.elastic = {0.5, 1, 0.5};
    for (data::Draw* draw : {&experiment.training.augment.rotation, &experiment.training.augment.noise,
                             &experiment.training.augment.blur, &experiment.training.augment.gamma})
      draw->probability = 0.5;
    return experiment;
  }

  Loading() : experiment_(small_experiment()), cases_(experiment_, data::open_dataset(experiment_.data)) {
    cases_.prepare_all({0, 1, 2, 3}, {});
  }
  EpochSampler sampler(const std::vector<std::size_t>& which = {0, 1, 2, 3}) const {
    return {experiment_, {}, 7, which, 4};
  }

  Experiment experiment_;
  Cases cases_;
};

bool same(const Sample& a, const Sample& b) {
  return a.image == b.image && a.target == b.target;
}

TEST_F(Loading, GivesTheSameBytesForAnyNumberOfThreadsAndAnyOrder) {
  const EpochSampler all = sampler();
  constexpr std::size_t count = 12;
  const auto steps = static_cast<std::size_t>(all.steps());
  const auto produce = [&](std::size_t i, Sample used = {}) {
    return all.batch(cases_, static_cast<std::int64_t>(i / steps) + 1, static_cast<std::int64_t>(i % steps),
                     std::move(used));
  };
  std::vector<Sample> one, four, backwards(count);
  Prefetcher single(count, produce, 2, 1), several(count, produce, 5, 4);
  for (std::size_t i = 0; i < count; ++i) {
    one.push_back(single.next());
    four.push_back(several.next(i > 0 ? four.back() : Sample()));  // whose memory is reused
  }
  for (std::size_t i = count; i-- > 0;) backwards[i] = produce(i);
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_TRUE(same(one[i], four[i])) << i;
    EXPECT_TRUE(same(one[i], backwards[i])) << i;
  }
  EXPECT_FALSE(same(one[0], one[steps]));  // another epoch
}

// The augmentation of a case does not depend on the other cases.
TEST_F(Loading, DrawsForACaseWhateverItsNeighbours) {
  const data::AugmentKey key{7, 1, 2};
  const Sample alone = cases_.sample(2, experiment_.training.augment, key);
  const std::size_t half = alone.image.size();
  const EpochSampler all = sampler();
  bool met = false;
  for (std::int64_t step = 0; step < all.steps(); ++step) {
    const Sample batch = all.batch(cases_, 1, step);
    for (const std::size_t start : {std::size_t{0}, half})
      met = met || std::equal(alone.image.begin(), alone.image.end(),
                              batch.image.begin() + static_cast<std::ptrdiff_t>(start));
  }
  EXPECT_TRUE(met);
}

TEST_F(Loading, GivesRanksTheSamplesOfABatchInOrder) {
  const Sample whole = sampler().batch(cases_, 2, 1);
  Sample shares;
  for (int rank = 0; rank < 2; ++rank) {
    test::Post post;
    test::RankThread self(post, rank, 2);
    const EpochSampler share(experiment_, {self, 1}, 7, {0, 1, 2, 3}, 4);
    EXPECT_EQ(share.steps(), sampler().steps());
    const Sample part = share.batch(cases_, 2, 1);
    shares.image.insert(shares.image.end(), part.image.begin(), part.image.end());
    shares.target.insert(shares.target.end(), part.target.begin(), part.target.end());
  }
  EXPECT_TRUE(same(shares, whole));
}

TEST_F(Loading, GivesTheSameSamplesWhereverCasesStay) {
  Experiment without = experiment_;
  without.cases_bytes = 0;
  Cases read_again(without, data::open_dataset(without.data));
  read_again.prepare_all({0, 1, 2, 3}, {});
  EXPECT_EQ(cases_.prepared(1), cases_.prepared(1));
  EXPECT_NE(read_again.prepared(1), read_again.prepared(1));
  const data::AugmentKey key{7, 1, 2};
  EXPECT_TRUE(same(cases_.sample(2, experiment_.training.augment, key),
                   read_again.sample(2, experiment_.training.augment, key)));

  without.cases_bytes = std::nullopt;
  Cases kept(without, data::open_dataset(without.data));
  kept.prepare_all({0}, {});
  EXPECT_EQ(kept.prepared(0), kept.prepared(0));
}

TEST_F(Loading, LeavesSamplesAsPreparedWithoutAugmentation) {
  data::AugmentOptions none;
  none.symmetries = false;
  EXPECT_TRUE(same(cases_.sample(1, none, {1, 1, 1}), cases_.sample(1)));
  EXPECT_FALSE(same(cases_.sample(1, experiment_.training.augment, {1, 1, 1}), cases_.sample(1)));
}

}  // namespace
}  // namespace voxswap::pipeline
