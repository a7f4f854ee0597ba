// The program on scans as they lie on people's disks: what it warns of, leaves out and takes, from the
// outside.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <optional>

#include "base/file.h"
#include "base/text.h"
#include "tests/cli/program.h"

namespace voxswap::cli {
namespace {

class Scans : public testing::Test {
 protected:
  static inline std::optional<test::TemporaryFolder> shared_;
  static const fs::path& folder() { return shared_->path(); }
  static Outcome call(const Words& arguments) {
    return run_program(arguments, {.log = folder() / "log.txt"});
  }
  static void phantoms(const std::string& name, const std::string& layout, const std::string& cases) {
    ASSERT_EQ(call({"phantom", "--out", path(name), "--layout", layout, "--cases", cases, "--size",
                    "24,24,16", "--seed", "1", "--quiet"})
                  .code,
              0);
  }
  static std::string path(const std::string& name) { return (folder() / name).string(); }
  static void write(const std::string& name, const std::string& text) {
    fs::create_directories((folder() / name).parent_path());
    fs::ofstream(folder() / name) << text;
  }
  // One short training on Decathlon's layout; an orphan lies beside its labels.
  static void SetUpTestSuite() {
    shared_.emplace();
    test::share_costs(folder() / "cache");
    phantoms("msd", "msd", "4");
    fs::copy_file(folder() / "msd/labelsTr" / first(folder() / "msd/labelsTr"),
                  folder() / "msd/labelsTr/orphan.nii.gz");
    write("study.yaml",
          "data: {root: msd, layout: msd, modalities: [flair, t1ce], cache: cache}\npreprocess: {resolution: "
          "16}\n"
          "network: {base_filters: 2, depth: 2}\ntraining: {epochs: 1}\n");
    const Outcome run = call({"run", path("study.yaml"), "--out", path("r")});
    ASSERT_EQ(run.code, 0) << run.output;
    log() = run.output;
  }
  static void TearDownTestSuite() { shared_.reset(); }
  static std::string first(const fs::path& inside) {
    return fs::directory_iterator(inside)->path().filename().string();
  }
  static std::string& log() {
    static std::string text;
    return text;
  }
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

TEST_F(Scans, ThatAreNotUsedAreToldByCheckAndStrictlyAnError) {
  const Outcome check = call({"check", path("msd")});
  EXPECT_EQ(check.code, 0) << check.output;
  EXPECT_TRUE(contains(check.output, "not used")) << check.output;
  EXPECT_TRUE(contains(check.output, "labelsTr/orphan.nii.gz")) << check.output;
  EXPECT_TRUE(contains(check.output, "a label map without an image")) << check.output;
  EXPECT_TRUE(contains(check.output, "0 errors, 1 warning")) << check.output;
  EXPECT_EQ(call({"check", path("msd"), "--strict"}).code, 3);
  EXPECT_TRUE(contains(call({"check", path("msd"), "--json"}).output, "\"not_used\": [\n    {"));
  phantoms("whole", "brats2021", "3");
  EXPECT_EQ(call({"check", path("whole"), "--strict"}).code, 0);
}

TEST_F(Scans, ThatAreWarnedOfAreInTheLogAndTheReportOfTheRun) {
  EXPECT_TRUE(contains(log(), "warning: not used: labelsTr/orphan.nii.gz: a label map without an image"))
      << log();
  EXPECT_TRUE(contains(read_file(folder() / "r/warnings.csv"), "labelsTr/orphan.nii.gz"));
  const std::string page = read_file(folder() / "r/report.html");
  EXPECT_TRUE(contains(page, "Data warnings"));
  EXPECT_TRUE(contains(page, "labelsTr/orphan.nii.gz"));
}

TEST_F(Scans, LeftOutOfASplitFileAreWarnedOf) {
  std::vector<std::string> ids;
  for (const auto& entry : fs::directory_iterator(folder() / "msd/imagesTr")) {
    const std::string name = entry.path().filename().string();
    ids.push_back(name.substr(0, name.find('.')));
  }
  ASSERT_EQ(ids.size(), 4U);
  write("split.csv", format("case,part\n{},training\n{},validation\n", ids[0], ids[1]));
  const Outcome run =
      call({"train", path("study.yaml"), "data.split.file=" + path("split.csv"), "--out", path("part")});
  EXPECT_EQ(run.code, 0) << run.output;
  EXPECT_TRUE(contains(run.output, "leaves out 2 of 4 cases that have ground truth")) << run.output;
}

TEST_F(Scans, OfAnotherLayoutArePredictedAndACaseWithoutAChannelIsLeftOut) {
  phantoms("new", "brats2023", "3");
  EXPECT_EQ(call({"predict", path("r"), "--input", path("new"), "--out", path("all"), "--quiet"}).code, 0);
  fs::remove(folder() / "new/BraTS-GLI-00001-000/BraTS-GLI-00001-000-t1c.nii.gz");
  const Outcome some = call({"predict", path("r"), "--input", path("new"), "--out", path("some"), "--quiet"});
  EXPECT_EQ(some.code, 3) << some.output;
  EXPECT_TRUE(contains(some.output, "BraTS-GLI-00001-000: skipped: ")) << some.output;
  EXPECT_TRUE(contains(some.output, "channel t1ce is missing")) << some.output;
  EXPECT_TRUE(contains(some.output, "1 of 3 cases could not be predicted")) << some.output;
  EXPECT_TRUE(fs::exists(folder() / "some/BraTS-GLI-00002-000.nii.gz"));
  EXPECT_FALSE(fs::exists(folder() / "some/BraTS-GLI-00001-000.nii.gz"));
}

TEST_F(Scans, WithClinicalNamesArePredictedWhenItIsSaidWhichIsWhich) {
  phantoms("as", "brats2023", "1");
  const fs::path from = folder() / "as/BraTS-GLI-00000-000";
  fs::create_directories(folder() / "clinic/smith");
  fs::copy_file(from / "BraTS-GLI-00000-000-t2f.nii.gz", folder() / "clinic/smith/5_AX_FLAIR.nii.gz");
  fs::copy_file(from / "BraTS-GLI-00000-000-t1c.nii.gz", folder() / "clinic/smith/7_AX_T1_GAD.nii.gz");
  ASSERT_EQ(call({"predict", path("r"), "--input", path("as"), "--out", path("o1"), "--quiet"}).code, 0);
  const Words base{"predict", path("r"), "--input", path("clinic"), "--out", path("o2"), "--quiet"};
  EXPECT_EQ(call(base).code, 3);
  Words named = base;
  named.push_back("data.files={t1ce: \"{case}/*_T1_GAD.nii.gz\", flair: \"{case}/*_FLAIR.nii.gz\"}");
  const Outcome predicted = call(named);
  ASSERT_EQ(predicted.code, 0) << predicted.output;
  EXPECT_EQ(read_file(folder() / "o2/smith.nii.gz"), read_file(folder() / "o1/BraTS-GLI-00000-000.nii.gz"));
  Words wrong = base;
  wrong.push_back("training.seed=2");
  const Outcome refused = call(wrong);
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.output,
                       "predict accepts only the keys data.layout, data.files, data.modalities, data.align"))
      << refused.output;
}

TEST_F(Scans, WithALabelThatOccursNowhereAreWarnedOfWhenScored) {
  const Outcome scored = call({"evaluate", "--truth", path("msd/labelsTr"), "--prediction",
                               path("msd/labelsTr"), "--out", path("scores.csv"), "--regions", "x=9;core=2"});
  EXPECT_EQ(scored.code, 0) << scored.output;
  EXPECT_TRUE(contains(scored.output,
                       "x: the label 9 is in no ground truth and in no prediction. The labels there: 1, 2"))
      << scored.output;
  EXPECT_FALSE(contains(scored.output, "core: the label")) << scored.output;
}

// Headers of text beside their voxels: NRRD's .nhdr and MetaImage's .mhd.
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
  const Outcome scored = call({"evaluate", "--truth", path("truth"), "--prediction", path("prediction"),
                               "--out", path("scores_of_pairs.csv"), "--quiet", "--metrics", "dice"});
  EXPECT_EQ(scored.code, 0) << scored.output;
  const std::string csv = read_file(folder() / "scores_of_pairs.csv");
  for (const char* row : {",a,label_1,1,", ",b,label_2,1,"}) EXPECT_TRUE(contains(csv, row)) << csv;
}

TEST_F(Scans, ThatArePipesStopNothing) {
  phantoms("piped", "brats2021", "2");
  const fs::path pipe = folder() / "piped/BraTS2021_00001/BraTS2021_00001_t1.nii.gz";
  fs::remove(pipe);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const Outcome check = call({"check", path("piped")});
  EXPECT_EQ(check.code, 3) << check.output;
  EXPECT_TRUE(contains(check.output, "is not a file (a pipe or a device)")) << check.output;
}

}  // namespace
}  // namespace voxswap::cli
