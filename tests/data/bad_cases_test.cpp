// Every kind of invalid input as a real file on disk: one clear message, exit code 3, and `check` reports all
// of them at once.
#include <algorithm>
#include <functional>
#include <limits>

#include "base/file.h"
#include "data/cases/check.h"
#include "data/cases/read_case.h"
#include "data/formats/image_writing.h"
#include "data/layouts/dataset.h"
#include "data/layouts/open_dataset.h"
#include "tests/data/support.h"

namespace voxswap::data {
namespace {

using namespace test;

const Geometry grid = geometry({8, 8, 8});

// Two valid cases with the names of 2021; the tests damage the second.
class BadCases : public testing::Test {
 protected:
  BadCases() {
    std::uint64_t seed = 0;
    for (const char* id : {"BraTS2021_00000", "BraTS2021_00001"}) {
      for (const char* modality : {"t1", "t1ce", "t2", "flair"})
        write_image(file(id, modality), random_image(grid, ++seed));
      write_label_map(file(id, "seg"), random_labels(grid, {0, 1, 2, 4}));
    }
  }
  fs::path file(const std::string& id, const std::string& what) const {
    return folder_ / format("{}/{}_{}.nii.gz", id, id, what);
  }
  fs::path bad(const std::string& what) const { return file("BraTS2021_00001", what); }
  DatasetOptions options() const { return at(folder_.path()); }
  void expect_checked(const std::string& severity, const std::vector<std::string>& parts) const {
    const CheckReport report = check_dataset({options(), false, 0});
    const bool reported =
        std::any_of(report.problems.begin(), report.problems.end(), [&](const Problem& problem) {
          return problem.severity == severity &&
                 std::all_of(parts.begin(), parts.end(), [&](const std::string& part) {
                   return problem.what.find(part) != std::string::npos;
                 });
        });
    EXPECT_TRUE(reported) << parts.front();
  }
  TemporaryFolder folder_;
};

TEST_F(BadCases, AreNotFoundWhereThereAreNone) {
  const CheckReport report = check_dataset({options(), false, 0});
  for (const Problem& problem : report.problems) ADD_FAILURE() << problem.what;
  ASSERT_EQ(report.cases.size(), 2U);
  EXPECT_EQ(report.cases[1].foreground, (Size3{8, 8, 8}));
}

TEST_F(BadCases, AMissingChannelNamesCaseChannelAndExpectedFile) {
  fs::remove(bad("t1ce"));
  const std::vector<std::string> parts{"BraTS2021_00001", "t1ce", bad("t1ce").string()};
  expect_failure([&] { open_dataset(options()); }, Exit::bad_data, parts);
  expect_checked("error", parts);
  DatasetOptions without = options();
  without.modalities = {"t1", "t2", "flair"};
  EXPECT_EQ(open_dataset(without).cases.size(), 2U);
}

TEST_F(BadCases, AFileThatGoesAfterOpeningIsMissing) {
  const Dataset dataset = open_dataset(options());
  fs::remove(bad("t2"));
  expect_failure([&] { read_case(dataset, dataset.cases[1]); }, Exit::bad_data,
                 {bad("t2").string(), "no such file"});
}

TEST_F(BadCases, DirectionsThatDifferInTheEighthDigitAreTheSameGrid) {
  Geometry turned = grid;
  turned.direction[1] = 3e-8;
  write_image(bad("t2"), random_image(turned));
  const Dataset dataset = open_dataset(options());
  EXPECT_EQ(read_case(dataset, dataset.cases[1]).channels[2].geometry, grid);
}

TEST_F(BadCases, AreNamedWithWhatIsWrongWhenTheyAreReadAndWhenTheyAreChecked) {
  Geometry moved = grid;
  moved.origin[2] = 3;
  Image not_finite = random_image(grid), fractional{grid, std::vector<float>(512, 0)};
  not_finite.at(3, 2, 1) = std::numeric_limits<float>::quiet_NaN();
  not_finite.at(4, 2, 1) = std::numeric_limits<float>::infinity();
  fractional.voxels[3] = 0.5F;
  struct Row {
    const char* file;
    std::function<void(const fs::path&)> damage;
    std::vector<std::string> says;  // and the file's name
  };
  using To = const fs::path&;
  const std::vector<Row> table = {
      {"t2",
       [&](To path) { write_image(path, random_image(moved)); },
       {"(0, 0, 3)", "BraTS2021_00001_t1.nii.gz", "(0, 0, 0)"}},
      {"t2",
       [](To path) {
         write_image(path, random_image(geometry({8, 8, 9})));
       },
       {"8x8x9", "8x8x8"}},
      {"seg",
       [](To path) {
         write_label_map(path, random_labels(geometry({8, 7, 8}), {0, 1}));
       },
       {"8x7x8"}},
      {"flair", [](To path) { truncate_file(path, 0.6); }, {"truncated"}},
      {"t1", [&](To path) { write_image(path, not_finite); }, {"2 of 512", "NaN", "(3, 2, 1)"}},
      {"seg",
       [](To path) {
         write_label_map(path, random_labels(grid, {0, 3}));
       },
       {"label 3", "1 necrosis, 2 oedema, 4 enhancing"}},
      {"seg", [&](To path) { write_image(path, fractional); }, {"0.5"}}};
  for (const Row& row : table) {
    SCOPED_TRACE(row.file + (" that says " + row.says[0]));
    const fs::path path = bad(row.file);
    const std::string good = read_file(path);
    row.damage(path);
    std::vector<std::string> parts = row.says;
    parts.push_back(path.string());
    const Dataset dataset = open_dataset(options());
    read_case(dataset, dataset.cases[0]);
    expect_failure([&] { read_case(dataset, dataset.cases[1]); }, Exit::bad_data, parts);
    expect_checked("error", parts);
    write_file(path, good);
  }
}

TEST_F(BadCases, AllOfThemAreReportedAtOnce) {
  fs::remove(bad("t1ce"));
  truncate_file(bad("flair"), 0.5);
  write_label_map(bad("seg"), random_labels(grid, {0, 7}));
  write_image(file("BraTS2021_00000", "t1"), Image{grid, std::vector<float>(512, 0)});
  fs::remove(file("BraTS2021_00000", "seg"));
  for (const char* what : {"t1ce is missing", "truncated", "label 7"}) expect_checked("error", {what});
  for (const CaseFacts& facts : check_dataset({options(), false, 0}).cases)
    EXPECT_TRUE(facts.grid) << facts.id;
  for (const char* what : {"all voxels have the value 0", "1 of 2 cases without ground truth", "necrosis"})
    expect_checked("warning", {what});
}

TEST_F(BadCases, AConstantBackgroundOtherThanZeroIsPointedOut) {
  Image image{grid, std::vector<float>(512, -2.5F)};
  image.at(4, 4, 4) = 1;
  for (const char* modality : {"t1", "t1ce", "t2", "flair"}) write_image(bad(modality), image);
  expect_checked("warning", {bad("t1").string(), "-2.5", "background"});
  const CheckReport report = check_dataset({options(), true, 0});
  EXPECT_EQ(report.cases[1].foreground, (Size3{3, 3, 3}));
}

TEST(ADataSet, ThatIsMissingOrEmptyIsBadData) {
  const TemporaryFolder folder;
  DatasetOptions options = at(folder.path());
  for (const char* layout : {"auto", "brats", "msd"}) {
    options.layout = layout;
    expect_failure([&] { open_dataset(options); }, Exit::bad_data, {folder.path().string(), "empty"});
  }
  fs::ofstream(folder / "notes.txt") << "x";
  options.layout = "auto";
  expect_failure([&] { open_dataset(options); }, Exit::bad_data,
                 {folder.path().string(), "brats", "msd", "files"});
  options.root = folder.path() / "none";
  expect_failure([&] { open_dataset(options); }, Exit::bad_data, {"none", "no such folder"});
  options.layout = "brast";
  expect_failure([&] { open_dataset(options); }, Exit::usage, {"brast", "Did you mean brats"});
}

}  // namespace
}  // namespace voxswap::data
