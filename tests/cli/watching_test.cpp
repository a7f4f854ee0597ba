// Tests `predict --watch` as a process: scans that arrive, damaged ones, a kill, and the end by a signal.
#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace voxswap::cli {
namespace {

class Watching : public ProgramInASharedFolder<Watching> {
 public:
  void make_for_all() const {
    phantoms("4", "16");
    write("tiny.yaml",
          "data: {root: data, cache: cache}\npreprocess: {resolution: 16}\n"
          "network: {name: unet3d, base_filters: 2, depth: 2}\ntraining: {epochs: 2, precision: f32}\n"
          "evaluate: {metrics: [dice]}\noutput: {viewer: none}\n");
    done({"run", path("tiny.yaml"), "--out", path("run"), "--quiet"});
  }

 protected:
  static std::string id(int number) { return format("BraTS2021_{:05}", number); }

  // Copies a case of the phantoms to a watched folder.
  void arrive(int number, int from, const std::string& folder = "in") const {
    for (const char* channel : {"flair", "t1", "t1ce", "t2"}) {
      const auto name = [&](int one) { return format("/{}/{}_{}.nii.gz", id(one), id(one), channel); };
      write(folder + name(number), bytes("data" + name(from)));
    }
  }
  Words watching() const {
    return {"predict",   path("run"), "--watch", path("in"),       "--out",
            path("out"), "--settle",  "0.4",     "--segmentations"};
  }
  // Waits until this is true.
  template <typename Condition>
  static void wait_for(const char* what, const Condition& condition) {
    for (int attempt = 0; attempt < 1200 && !condition(); ++attempt)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_TRUE(condition()) << what;
  }
  // The label map that `predict` makes of this phantom.
  std::string expected(int number) const {
    const std::string out = format("expected_{}", number);
    done({"predict", path("run"), "--input", path("data/" + id(number)), "--out", path(out), "--quiet"});
    return bytes(out + "/" + id(number) + ".nii.gz");
  }
  std::string predicted(int number) const {
    const std::string name = "out/" + id(number) + ".nii.gz";
    return fs::exists(folder_ / name) ? bytes(name) : "";
  }
};

TEST_F(Watching, PredictsWhatArrivesToTheBytesOfPredictWhateverHappensToIt) {
  fs::create_directories(folder_ / "in");
  const std::string first = expected(0), second = expected(1), third = expected(2);
  ASSERT_NE(first, third);

  const pid_t killed = start(watching(), {.log = log_});
  arrive(0, 0);
  arrive(1, 1);
  write("in/" + id(1) + "/" + id(1) + "_t2.nii.gz", "damaged");
  wait_for("the first case", [&] { return predicted(0) == first; });
  wait_for("the damaged case", [&] { return contains(read_file(log_), id(1) + ": skipped", "_t2"); });
  EXPECT_EQ(predicted(1), "");
  wait_for("the record", [&] { return contains(bytes("out/prediction.json"), id(0)); });
  kill(killed, SIGKILL);
  finish(killed, {.log = log_});

  write("out/" + id(0) + ".nii.gz", "edited");  // by the user
  arrive(1, 1);                                 // while nothing watches
  const pid_t again = start(watching(), {.log = log_});
  wait_for("the repaired case", [&] { return predicted(1) == second; });
  EXPECT_EQ(predicted(0), "edited");
  arrive(1, 2);
  wait_for("the changed case", [&] { return predicted(1) == third; });
  EXPECT_TRUE(fs::exists(folder_ / "out" / (id(1) + ".seg.nrrd")));
  kill(again, SIGTERM);
  const Outcome ended = finish(again, {.log = log_});
  EXPECT_EQ(ended.code, 0) << ended.output;
  EXPECT_TRUE(contains(ended.output, "ended"));
}

TEST_F(Watching, KeepsALabelMapFromAnotherCaseWithTheSameName) {
  const Words command = {"predict", path("run"),  "--watch",  path("names"),
                         "--out",   path("maps"), "--settle", "0.4"};
  arrive(0, 0, "names/x");
  const pid_t first = start(command, {.log = log_});
  const fs::path map = folder_ / "maps" / (id(0) + ".nii.gz");
  const fs::path record = folder_ / "maps/prediction.json";
  wait_for("the first case", [&] { return fs::exists(record) && contains(read_file(record), "x/"); });
  kill(first, SIGTERM);
  finish(first, {.log = log_});
  const std::string kept = read_file(map);

  fs::remove_all(folder_ / "names/x");
  arrive(0, 2, "names/a");
  const pid_t second = start(command, {.log = log_});
  wait_for("a warning", [&] { return contains(read_file(log_), id(0) + ".nii.gz is the label map of x/"); });
  EXPECT_EQ(read_file(map), kept);
  fs::remove(map);
  arrive(0, 2, "names/a");
  wait_for("the new case", [&] { return fs::exists(map); });
  kill(second, SIGTERM);
  finish(second, {.log = log_});
  EXPECT_NE(read_file(map), kept);
}

// With a second case of this name, a folder's cases are named after their folders.
TEST_F(Watching, PredictsACaseOnceThoughAnotherMakesItsNameAmbiguous) {
  arrive(0, 0, "same");
  const pid_t child =
      start({"predict", path("run"), "--watch", path("same"), "--out", path("once"), "--settle", "0.4"},
            {.log = log_});
  const auto maps = [&] {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder_ / "once"))
      count += contains(entry.path().filename().string(), ".nii.gz");
    return count;
  };
  wait_for("the first case", [&] { return fs::exists(folder_ / "once/prediction.json") && maps() == 1; });
  arrive(0, 1, "same/below");
  wait_for("the second case", [&] { return maps() == 2; });
  arrive(2, 2, "same");
  wait_for("a third case", [&] { return fs::exists(folder_ / "once" / (id(2) + ".nii.gz")); });
  kill(child, SIGTERM);
  finish(child, {.log = log_});
  EXPECT_EQ(maps(), 3U);
  EXPECT_TRUE(fs::exists(folder_ / "once" / (id(0) + ".nii.gz")));
}

TEST_F(Watching, RefusesFoldersAndOptionsThatDoNotSuitIt) {
  fs::create_directories(folder_ / "empty");
  const auto watch = [&](const Words& more) { return program(Words{"predict", path("run")} + more); };
  failed(watch({"--watch", path("nowhere"), "--out", path("x")}), 3, {"nowhere", "no such folder"});
  failed(watch({"--watch", path("empty")}), 2, {"--out DIR"});
  failed(watch({"--watch", path("empty"), "--out", path("empty/maps")}), 2, {"in the watched folder"});
  failed(watch({"--watch", path("empty"), "--input", path("data"), "--out", path("x")}), 2, {"--input"});
  failed(watch({"--watch", path("empty"), "--out", path("x"), "--dry-run"}), 2, {"--dry-run"});
  failed(watch({"--out", path("x")}), 2, {"--input or --watch"});
  EXPECT_FALSE(fs::exists(folder_ / "x"));
}

}  // namespace
}  // namespace voxswap::cli
