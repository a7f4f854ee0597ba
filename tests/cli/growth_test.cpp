// Tests training.growth as a process: its weights equal those of separate runs to the bit, also after kills.
#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace voxswap::cli {
namespace {

class Growth : public ProgramInASharedFolder<Growth> {
 public:
  void make_for_all() const {
    phantoms("5", "24");
    write("experiment.yaml",
          "data: {root: data}\npreprocess: {resolution: 16}\nnetwork: {name: unet3d, base_filters: 2, depth: "
          "2}\n"
          "training: {epochs: 2, precision: f32, repeats: 2}\nevaluate: {metrics: [dice]}\n"
          "output: {viewer: none}\n");
  }

 protected:
  Words grown(const std::string& out, const Words& more = {}, const std::string& command = "run") const {
    return into(out, Words{"training.growth={4: 3, 2: 2}"} + more, command);
  }
  std::string best(const std::string& run, int repeat) const {
    return tensors(run, format("repeat_{}/best", repeat));
  }
};

TEST_F(Growth, IsARunThatBeginsWithTheWeightsOfACoarserOneThatBeganWithThoseOfACoarserOne) {
  done(grown("grown", {"name=n"}));
  const Words one = {"training.repeats=1", "training.seed=1"};  // init takes the weights of a first repeat
  done(into("four", one + Words{"preprocess.resolution=4", "training.epochs=3"}, "train"));
  done(into("two", one + Words{"preprocess.resolution=8", "network.init=" + path("four")}, "train"));
  done(into("whole", one + Words{"network.init=" + path("two")}, "train"));
  EXPECT_EQ(best("grown", 1), tensors("whole", "best"));
  EXPECT_EQ(best("grown/growth", 1), tensors("two", "best"));
  EXPECT_EQ(best("grown/growth/growth", 1), tensors("four", "best"));
  EXPECT_NE(best("grown/growth/growth", 2), tensors("four", "best"));
  EXPECT_EQ(column("grown/growth/epochs.csv", "resolution")[0], "8");

  // Time of training counts from the first stage on.
  const double coarse = std::stod(column("grown/growth/validation.csv", "trained_seconds")[0]),
               coarser = std::stod(column("grown/growth/growth/epochs.csv", "seconds")[0]);
  EXPECT_GT(coarse, coarser);
  EXPECT_GT(std::stod(column("grown/validation.csv", "trained_seconds")[0]), coarse);

  const Json watched = parse_json(done({"watch", path("grown"), "--json"}).output);
  EXPECT_EQ(watched["epochs"], 2);
  failed(program(grown("grown", {"--resume", "name=n", "training.growth={2: 2}"})), 2, {"training.growth"});
}

TEST_F(Growth, ThatIsKilledInAnyStageGoesOnToTheSameBits) {
  done(grown("uncut"));
  const Words resumed = {"run", path("cut"), "--resume"};
  for (const char* stage : {"cut/growth/growth", "cut/growth", "cut"}) {
    // From the folder alone, once it has begun.
    const bool begun = fs::exists(folder_ / "cut/growth/.run.yaml");
    const pid_t child = start(begun ? resumed : grown("cut", {"--resume"}), {.log = log_});
    while (!fs::exists(folder_ / stage / "epochs.csv") && kill(child, 0) == 0) {
      siginfo_t info{};
      waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
      if (info.si_pid == child) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    kill(child, SIGKILL);
    finish(child, {.log = log_});  // on a busy machine it may have gone further, or ended
  }
  done(resumed);
  EXPECT_EQ(best("cut", 1), best("uncut", 1));
  EXPECT_EQ(best("cut", 2), best("uncut", 2));
  EXPECT_EQ(bytes("cut/dice.csv"), bytes("uncut/dice.csv"));
}

// Everything but the folder of growth is removed, as a kill during the first stage would leave it.
TEST_F(Growth, ThatIsKilledIsContinuedWithItsOwnValuesOnly) {
  done(grown("begun"));
  const std::string weights = best("begun", 2), note = bytes("begun/growth/.run.yaml");
  for (const auto& entry : fs::directory_iterator(folder_ / "begun"))
    if (entry.path().filename() != "growth") fs::remove_all(entry.path());
  failed(program(grown("begun", {"training.seed=9"})), 2, {"contains a run already", "--resume"});
  failed(program(grown("begun", {"training.seed=9", "--resume"})), 2, {"training.seed"});
  failed(program(into("begun", {"--resume"})), 2, {"training.growth"});
  EXPECT_EQ(bytes("begun/growth/.run.yaml"), note);
  failed(program({"report", path("begun")}), 3);
  failed(program({"predict", path("begun"), "--input", path("data"), "--out", path("maps")}), 3,
         {"has not begun on its own grid", "--resume"});
  done(grown("begun", {"--resume", "memory.planner=checkpoint"}));
  EXPECT_EQ(best("begun", 2), weights);
}

TEST_F(Growth, DoesNotTakeAFolderOfTheUserForItsOwn) {
  write("mine/growth/children.csv", "mine");
  failed(program(grown("mine")), 2, {"is not empty and contains no run"});
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "mine"), {}), 1);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "mine/growth"), {}), 1);
}

TEST_F(Growth, IsForecastWithTheTimeOfEachStage) {
  const std::string shown = done(grown("none", {"--dry-run"})).output;
  EXPECT_TRUE(contains(shown, "3 epochs at 4, about ", "2 epochs at 8, about ", "total time"));
  const Json forecast =
      parse_json(done(grown("none", {"--dry-run", "--json", "--quiet"})).output)["forecast"];
  ASSERT_EQ(forecast["growth"].size(), 2u);
  EXPECT_EQ(forecast["growth"][0]["input"], "4");
  EXPECT_GT(forecast["seconds"].get<double>(), 4 * forecast["epoch_seconds"].get<double>());
  EXPECT_FALSE(fs::exists(folder_ / "none"));
  const Json alone = parse_json(
      done(grown("none", {"training.growth=none", "--dry-run", "--json", "--quiet"})).output)["forecast"];
  for (const char* bytes : {"cache_bytes", "output_bytes"})
    EXPECT_GT(forecast[bytes].get<std::int64_t>(), alone[bytes].get<std::int64_t>()) << bytes;
  EXPECT_TRUE(
      contains(done(grown("none", {"training.growth={1.1: 1}"})).output, "as fine as that of the run"));
  fs::remove_all(folder_ / "none");
  EXPECT_TRUE(
      contains(done(grown("none", {"training.growth=none", "--dry-run"})).output, "without validation\n"));
}

TEST_F(Growth, IsPartOfTheTimeThatPlanAndBenchForecast) {
  EXPECT_TRUE(contains(done(grown("none", {"--estimate"}, "plan")).output, "3 epochs at 4, about ",
                       "2 epochs at 8, about ", "without validation\n"));
  const Words on_a_card = {"--epoch", "--as", "h100", "--steps", "1", "--json", "--quiet"};
  const Json bench = parse_json(done(grown("none", on_a_card, "bench")).output);
  EXPECT_EQ(bench["growth"].size(), 2u);
  EXPECT_GT(bench["seconds"].get<double>(), 4 * bench["epoch_seconds"].get<double>());
}

TEST_F(Growth, EndsBeforeTheFirstStageIfTheFinestGridDoesNotFit) {
  failed(program(grown("large", {"memory.budget=100KiB", "memory.slabs=none", "memory.planner=keep"})), 4);
  EXPECT_FALSE(fs::exists(folder_ / "large/growth"));
}

TEST_F(Growth, RefusesStagesThatAreNotFinerThanTheOneBefore) {
  for (const char* bad : {"{2: 1, 4: 1}", "{1: 3}", "{2: 0}", "{two: 1}", "[2, 1]", "{2: 1, 2.0: 1}"})
    failed(program(into("refused", {format("training.growth={}", bad)})), 2, {"training.growth"});
  EXPECT_FALSE(fs::exists(folder_ / "refused"));
}

}  // namespace
}  // namespace voxswap::cli
