// Checkpoints that are damaged, missing or half written: a resume finds a usable `last` with its `best`, or
// starts anew.
#include "pipeline/record/generations.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "base/file.h"
#include "tests/expect.h"
#include "tests/folder.h"

namespace voxswap::pipeline {
namespace {

using test::contains;

class Generation : public test::InAFolder {
 protected:
  fs::path file(const std::string& name) const { return folder_ / (name + ".safetensors"); }
  static Checkpoint holding(float value) {
    return {{{"value", std::to_string(static_cast<int>(value))}}, {{"w", Shape{1}, {value}}}};
  }
  // `best` 0 writes no new best.
  void write(float last, float best) {
    if (best != 0) checkpoints_.write_best(holding(best));
    checkpoints_.write_last(holding(last));
  }
  void flip(const std::string& name) {
    std::string bytes = read_file(file(name));
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    fs::ofstream(file(name), std::ios::binary) << bytes;
  }

  // The values of last and best after a resume; {0, 0} if it starts anew.
  std::pair<float, float> resumed() {
    float best = 0;
    Generations fresh(folder_);
    const auto last = fresh.resume(
        [](const Checkpoint&, const std::string&) {},
        [&](const Checkpoint& one, const std::string&) { best = one.tensor("w", "").values[0]; });
    if (last && best != 0) {
      EXPECT_EQ(read_checkpoint(file("best")).tensor("w", "").values[0], best) << "under its own name";
      EXPECT_EQ(predicted(), best);
    }
    if (last) {
      EXPECT_EQ(read_checkpoint(file("last")).digest, last->digest);
    }
    return {last ? last->tensor("w", "").values[0] : 0, best};
  }
  float predicted() {
    return read_best(folder_, [](const Checkpoint&, const std::string&) {}).tensor("w", "").values[0];
  }
  template <class Do>
  static std::string refusal(const Do& act) {
    return test::message_of(act, Exit::bad_data);
  }

  Generations checkpoints_{folder_};
};

using Values = std::pair<float, float>;

TEST_F(Generation, StartsFromTheBeginningInAnEmptyFolder) {
  EXPECT_EQ(resumed(), Values(0, 0));
  write(1, 0);  // before the end of the first epoch
  EXPECT_EQ(resumed(), Values(1, 0));
  EXPECT_TRUE(contains(refusal([&] { predicted(); }), "no epoch of this run is finished yet"));
}

TEST_F(Generation, FallsBackToTheOneBeforeWhenTheNewestIsDamagedOrMissing) {
  write(1, 10);
  write(2, 20);
  write(3, 0);
  EXPECT_EQ(resumed(), Values(3, 20));
  flip("last");
  EXPECT_EQ(resumed(), Values(2, 20));
  EXPECT_EQ(resumed(), Values(2, 20)) << "it has the name of the newest now";

  write(4, 40);
  fs::remove(file("last"));
  EXPECT_EQ(predicted(), 20) << "the best of what is left of last";
  EXPECT_EQ(resumed(), Values(2, 20)) << "with the best of then";
}

TEST_F(Generation, GoesBackFurtherWhenTheNewestBestIsDamaged) {
  write(1, 10);
  write(2, 20);
  flip("best");
  EXPECT_TRUE(contains(refusal([&] { predicted(); }), "'w' does not match its checksum"));
  EXPECT_EQ(resumed(), Values(1, 10));
}

// A process that ends between the two writes leaves a `best` that is newer than `last`.
TEST_F(Generation, TakesTheBestThatLastNames) {
  write(1, 10);
  fs::create_directories(folder_ / "copy");
  fs::copy_file(file("last"), folder_ / "copy/last.safetensors");
  write(2, 20);
  fs::remove(file("last.previous"));
  fs::copy_file(folder_ / "copy/last.safetensors", file("last"), fs::copy_options::overwrite_existing);
  EXPECT_EQ(predicted(), 10);
  EXPECT_EQ(resumed(), Values(1, 10));
}

TEST_F(Generation, OfAveragedWeightsAreToLastWhatTheBestIs) {
  const auto averaged = [&] {
    return read_best(
               folder_, [](const Checkpoint&, const std::string&) {}, averaged_weights_name)
        .tensor("w", "")
        .values[0];
  };
  write(1, 10);
  EXPECT_FALSE(has_averaged(folder_));
  checkpoints_.write_averaged(holding(100));
  EXPECT_FALSE(has_averaged(folder_)) << "as long as no last names it";
  write(2, 0);
  EXPECT_TRUE(has_averaged(folder_));
  EXPECT_EQ(averaged(), 100);
  EXPECT_EQ(predicted(), 10);
  checkpoints_.write_averaged(holding(200));  // then the power fails
  EXPECT_EQ(averaged(), 100);
  Generations fresh(folder_);
  std::vector<float> checked;
  const auto last = fresh.resume(
      [](const Checkpoint&, const std::string&) {},
      [&](const Checkpoint& one, const std::string&) { checked.push_back(one.tensor("w", "").values[0]); });
  ASSERT_TRUE(last);
  EXPECT_EQ(checked, (std::vector<float>{10, 100}));
  EXPECT_EQ(read_checkpoint(file("averaged")).tensor("w", "").values[0], 100);
  fresh.write_last(holding(3));
  EXPECT_EQ(averaged(), 100);
  for (const char* name : {"averaged", "averaged.previous"}) fs::remove(file(name));
  EXPECT_TRUE(contains(refusal([&] { averaged(); }), "is missing, although the run wrote it"));
}

TEST_F(Generation, ABestByItselfPredicts) {
  write(1, 10);
  for (const char* name : {"last", "last.previous"}) fs::remove(file(name));
  EXPECT_EQ(predicted(), 10);
}

}  // namespace
}  // namespace voxswap::pipeline
