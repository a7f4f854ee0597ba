// voxswap report --ensembles: pairs of runs with different networks, ranked together with the runs.
#include <gtest/gtest.h>

#include <map>

#include "base/text.h"
#include "tests/cli/program.h"

namespace voxswap::cli {
namespace {

class RankedEnsembles : public ProgramInASharedFolder<RankedEnsembles> {
 public:
  void make_for_all() const {
    phantoms("5", "16");
    write("experiment.yaml", R"(name: tiny
data: {root: data, modalities: [flair, t1ce]}
preprocess: {resolution: 16}
network: {base_filters: 2, depth: 2}
training: {epochs: 2}
memory: {planner: keep}
)");
    write("sweep.yaml", bytes("experiment.yaml") + R"(sweep:
  settings:
    deep: {network.depth: 3}
    patches: {training.patch: 8, training.epochs: 3}
  data.split.fold: [0, 1]
)");
    done({"sweep", path("sweep.yaml"), "--out", path("s"), "data.cache=" + cache_.string(),
          "data.split.folds=2", "--quiet"});
  }

 protected:
  // Dice by case and region, of one ensemble of runs.
  std::map<std::string, std::string> dice_of(const std::string& table, const std::string& run) const {
    const Csv csv = read_csv(folder_ / table);
    std::map<std::string, std::string> dice;
    for (const auto& row : csv.rows)
      if (run.empty() || row[csv.column("run", table)] == run)
        dice[row[csv.column("case", table)] + " " + row[csv.column("region", table)]] =
            row[csv.column("dice", table)];
    return dice;
  }
};

TEST_F(RankedEnsembles, CoverAllFoldsAndNameTheCommandThatPredicts) {
  const Outcome outcome = done({"report", path("s"), "--ensembles", "--quiet", "--json"});
  const Json best = Json::parse(outcome.output.substr(outcome.output.find("{\n"))).at("best");
  EXPECT_EQ(best.at("cases"), 5);
  EXPECT_EQ(best.at("runs").size(), best.at("ensemble").get<bool>() ? 4u : 2u);
  EXPECT_LT(best.at("next").at("interval_low"), best.at("next").at("interval_high"));
  EXPECT_EQ(dice_of("s/ensembles.csv", "").size(), 15u);
  const std::string page = bytes("s/report.html"), command = best.at("command");
  EXPECT_TRUE(contains(page, "(ensemble)", "Predict with it", command, "ensembles.csv"));
  Words words = split(command, ' ');
  ASSERT_EQ(words.front(), "voxswap");
  words.erase(words.begin());
  std::replace(words.begin(), words.end(), std::string("IMAGES"), path("data"));
  std::replace(words.begin(), words.end(), std::string("LABEL_MAPS"), path("best"));
  done(words);
  EXPECT_TRUE(fs::exists(folder_ / "best/BraTS2021_00000.nii.gz"));
}

TEST_F(RankedEnsembles, HaveTheDiceOfTheLabelMapsThatTheyPredict) {
  const std::string a = "settings-deep_fold-0", b = "settings-patches_fold-0";
  done({"report", path("s/" + a), path("s/" + b), "--out", path("pair"), "--ensembles", "--quiet"});
  done({"predict", path("s/" + a), path("s/" + b), "--input", path("data"), "--out", path("maps"),
        "--postprocessing", "none"});
  const auto scored = dice_of("pair/ensembles.csv", a + " + " + b);
  ASSERT_FALSE(scored.empty());
  for (const auto& [name, dice] : scored) {
    const std::string id = split(name, ' ')[0];
    fs::create_directories(folder_ / "truth");
    fs::copy_file(folder_ / "data" / id / (id + "_seg.nii.gz"), folder_ / "truth" / (id + ".nii.gz"),
                  fs::copy_options::overwrite_existing);
  }
  done({"evaluate", "--truth", path("truth"), "--prediction", path("maps"), "--out", path("maps.csv"),
        "--regions", "whole_tumor=1,2,4;tumor_core=1,4;enhancing_tumor=4"});
  EXPECT_EQ(dice_of("maps.csv", ""), scored);
}

TEST_F(RankedEnsembles, UseEveryRepeatOfTheRunThatHasMore) {
  done(into("one", {"training.epochs=1"}));
  done(into("two", {"training.epochs=1", "network.depth=3", "training.repeats=2"}));
  done({"report", path("one"), path("two"), "--out", path("uneven"), "--ensembles", "--quiet"});
  const Csv csv = read_csv(folder_ / "uneven/ensembles.csv");
  std::map<std::string, int> rows;
  for (const auto& row : csv.rows) ++rows[row[csv.column("repeat", "ensembles.csv")]];
  EXPECT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows["1"], rows["2"]);
}

TEST_F(RankedEnsembles, AreNotMadeOfRunsThatCannotPredictTogether) {
  done(into("small", {"preprocess.resolution=8", "training.epochs=1"}));
  done(into("large", {"training.epochs=1"}));
  done(into("other", {"training.epochs=2", "data.split.validation=0.5"}));
  refused(2, {"report", path("small"), path("large"), "--out", path("none"), "--ensembles"},
          "cannot predict together: preprocess.resolution is 8 and 16");
  refused(2, {"report", path("large"), path("other"), "--out", path("none"), "--ensembles"},
          "no two groups of runs have the same validation cases");
}

}  // namespace
}  // namespace voxswap::cli
