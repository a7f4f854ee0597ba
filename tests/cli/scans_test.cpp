// The program on data sets as users have them: its warnings, and the cases that it skips and uses.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "base/text.h"
#include "tests/cli/program.h"

namespace voxswap::cli {
namespace {

class Scans : public ProgramInASharedFolder<Scans> {
 public:
  // One short training on the Decathlon's layout; an orphan is next to its labels.
  void make_for_all() const {
    of_layout("msd", "msd", "4");
    const fs::path labels = folder_ / "msd/labelsTr";
    fs::copy_file(fs::directory_iterator(labels)->path(), labels / "orphan.nii.gz");
    write("study.yaml",
          "data: {root: msd, layout: msd, modalities: [flair, t1ce], cache: cache}\n"
          "preprocess: {resolution: 16}\nnetwork: {base_filters: 2, depth: 2}\ntraining: {epochs: 1}\n");
    write("log.txt", done({"run", path("study.yaml"), "--out", path("r")}).output);
  }

 protected:
  void of_layout(const std::string& name, const std::string& layout, const std::string& cases) const {
    phantoms(cases, "24,24,16", {"--layout", layout}, name);
  }
};

TEST_F(Scans, ThatAreUnusedAreWarningsOfCheckAndErrorsWithStrict) {
  const Outcome check = done({"check", path("msd")});
  EXPECT_TRUE(contains(check.output, "not used", "labelsTr/orphan.nii.gz", "a label map without an image",
                       "0 errors, 1 warning"));
  refused(3, {"check", path("msd"), "--strict"});
  EXPECT_TRUE(contains(program({"check", path("msd"), "--json"}).output, "\"not_used\": [\n    {"));
  of_layout("whole", "brats2021", "3");
  done({"check", path("whole"), "--strict"});
}

TEST_F(Scans, WithTheSameProblemAreReportedOnceWithOneRemedy) {
  of_layout("alike", "brats2021", "4");
  for (int i = 0; i < 4; ++i) {
    const std::string id = format("BraTS2021_{:05}", i);
    fs::remove(folder_ / "alike" / id / (id + "_t1.nii.gz"));
  }
  const Outcome check = failed(program({"check", path("alike")}), 3);
  EXPECT_TRUE(
      contains(check.output,
               "4 of 4 cases (BraTS2021_00000, BraTS2021_00001, BraTS2021_00002, 1 more): channel t1 is "
               "missing: no such file: CASE/CASE_t1.nii.gz"));
  const std::size_t remedy = check.output.find("To do: add the file");
  ASSERT_NE(remedy, std::string::npos);
  EXPECT_EQ(check.output.find("To do: add the file", remedy + 1), std::string::npos);
  EXPECT_TRUE(contains(check.output, "4 errors"));
}

TEST_F(Scans, ThatAreWarnedOfAreInTheLogAndTheReportOfTheRun) {
  EXPECT_TRUE(
      contains(bytes("log.txt"), "warning: not used: labelsTr/orphan.nii.gz: a label map without an image"));
  EXPECT_TRUE(contains(bytes("r/warnings.csv"), "labelsTr/orphan.nii.gz"));
  const std::string page = bytes("r/report.html");
  EXPECT_TRUE(contains(page, "Data warnings", "labelsTr/orphan.nii.gz"));
}

// A signal stops the prediction after the current window, not after the case, which can take minutes.
TEST_F(Scans, EndTheirPredictionWithTheWindowThatASignalFinds) {
  const fs::path maps = folder_ / "interrupted";
  const pid_t child = start({"predict", path("r"), "--input", path("msd"), "--out", maps.string(), "--window",
                             "8", "--overlap", "0.9", "--tta"},
                            {.log = log_});
  for (int i = 0; i < 6000 && !fs::exists(maps); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  kill(child, SIGTERM);
  const Outcome ended = finish(child, {.log = log_});
  failed(ended, 130, {"interrupted"});
  EXPECT_FALSE(contains(ended.output, "--resume")) << ended.output;  // which predict has not
  EXPECT_TRUE(!fs::exists(maps) || fs::is_empty(maps));
}

TEST_F(Scans, LeftOutOfASplitFileAreWarnedOf) {
  std::vector<std::string> ids;
  for (const auto& entry : fs::directory_iterator(folder_ / "msd/imagesTr")) {
    const std::string name = entry.path().filename().string();
    ids.push_back(name.substr(0, name.find('.')));
  }
  ASSERT_EQ(ids.size(), 4U);
  write("split.csv", format("case,part\n{},training\n{},validation\n", ids[0], ids[1]));
  const Outcome run = succeeded(
      program({"train", path("study.yaml"), "data.split.file=" + path("split.csv"), "--out", path("part")}));
  EXPECT_TRUE(contains(run.output, "leaves out 2 of 4 cases that have ground truth"));
}

TEST_F(Scans, WithLabelsThatTellSidesAreNotMirroredWithoutAWarning) {
  const std::string labels = "data.labels={lh_core: 1, rh_core: 2, rest: 3}",
                    regions = "data.regions={all: [1, 2]}";
  const auto train = [&](const std::string& out, const Words& more) {
    return succeeded(program(Words{"train", path("study.yaml"), labels, regions, "--out", path(out)} + more))
        .output;
  };
  const std::string warning = "labels distinguish left and right, but training mirrors one into the other";
  EXPECT_TRUE(
      contains(train("mirrored", {"evaluate.tta=true"}), warning,
               "set training.augment.symmetries=false and training.augment.flip=0, and evaluate.tta=false"));
  EXPECT_TRUE(contains(bytes("mirrored/warnings.csv"), warning));
  EXPECT_FALSE(
      contains(train("upright", {"training.augment.symmetries=false", "training.augment.flip=[0, 0.5, 0.5]"}),
               warning));
  done({"configure", path("msd"), "--out", path("sides.yaml"), "--estimate", "--quiet", labels, regions,
        "data.cache=" + path("cache"), "training.precision=f32"});
  EXPECT_TRUE(contains(bytes("sides.yaml"), "labels distinguish left and right", "flip: 0"));
  EXPECT_FALSE(contains(bytes("sides.yaml"), "tta: true"));
}

TEST_F(Scans, OfAnotherLayoutArePredictedAndACaseWithoutAChannelIsLeftOut) {
  of_layout("new", "brats2023", "3");
  done({"predict", path("r"), "--input", path("new"), "--out", path("all"), "--quiet"});
  fs::remove(folder_ / "new/BraTS-GLI-00001-000/BraTS-GLI-00001-000-t1c.nii.gz");
  const Outcome some = failed(
      program({"predict", path("r"), "--input", path("new"), "--out", path("some"), "--quiet"}), 3,
      {"BraTS-GLI-00001-000: skipped: ", "channel t1ce is missing", "1 of 3 cases could not be predicted"});
  EXPECT_TRUE(fs::exists(folder_ / "some/BraTS-GLI-00002-000.nii.gz"));
  EXPECT_FALSE(fs::exists(folder_ / "some/BraTS-GLI-00001-000.nii.gz"));
}

TEST_F(Scans, WithClinicalNamesArePredictedWhenItIsSaidWhichIsWhich) {
  of_layout("as", "brats2023", "1");
  const fs::path from = folder_ / "as/BraTS-GLI-00000-000";
  fs::create_directories(folder_ / "clinic/smith");
  fs::copy_file(from / "BraTS-GLI-00000-000-t2f.nii.gz", folder_ / "clinic/smith/5_AX_FLAIR.nii.gz");
  fs::copy_file(from / "BraTS-GLI-00000-000-t1c.nii.gz", folder_ / "clinic/smith/7_AX_T1_GAD.nii.gz");
  done({"predict", path("r"), "--input", path("as"), "--out", path("o1"), "--quiet"});
  const Words base{"predict", path("r"), "--input", path("clinic"), "--out", path("o2"), "--quiet"};
  refused(3, base);
  done(base + Words{"data.files={t1ce: \"{case}/*_T1_GAD.nii.gz\", flair: \"{case}/*_FLAIR.nii.gz\"}"});
  EXPECT_EQ(bytes("o2/smith.nii.gz"), bytes("o1/BraTS-GLI-00000-000.nii.gz"));
  failed(program(base + Words{"training.seed=2"}), 2,
         {"predict accepts only the keys data.layout, data.files, data.modalities, data.align"});
}

TEST_F(Scans, WithALabelThatOccursNowhereAreWarnedOfWhenScored) {
  const Outcome scored = done({"evaluate", "--truth", path("msd/labelsTr"), "--prediction",
                               path("msd/labelsTr"), "--out", path("scores.csv"), "--regions", "x=9;core=2"});
  EXPECT_TRUE(contains(
      scored.output,
      "x: the label 9 occurs in no ground truth and in no prediction. Labels in the ground truth: 1, 2"));
  EXPECT_FALSE(contains(scored.output, "core: the label"));
}

// Text headers with separate voxel files: NRRD's .nhdr and MetaImage's .mhd.
TEST_F(Scans, WithHeadersInFilesOfTheirOwnAreScored) {
  const std::string voxels{1, 0, 1, 2, 0, 2, 1, 1};
  for (const char* side : {"truth", "prediction"}) {
    write(format("{}/a.raw", side), voxels);
    write(format("{}/a.nhdr", side),
          "NRRD0004\ntype: uchar\ndimension: 3\nspace: left-posterior-superior\nsizes: 2 2 2\nspace "
          "directions: (1,0,0) "
          "(0,1,0) (0,0,1)\nkinds: domain domain domain\nencoding: raw\nspace origin: (0,0,0)\ndata file: "
          "a.raw\n");
    write(format("{}/b.raw", side), voxels);
    write(format("{}/b.mhd", side),
          "ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\nElementSpacing "
          "= 1 1 1\n"
          "DimSize = 2 2 2\nElementType = MET_UCHAR\nElementDataFile = b.raw\n");
  }
  done({"evaluate", "--truth", path("truth"), "--prediction", path("prediction"), "--out",
        path("scores_of_pairs.csv"), "--quiet", "--metrics", "dice"});
  const std::string csv = bytes("scores_of_pairs.csv");
  EXPECT_TRUE(contains(csv, ",a,label_1,1,", ",b,label_2,1,"));
}

}  // namespace
}  // namespace voxswap::cli
