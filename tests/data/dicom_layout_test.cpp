// DICOM as a data set: cases, studies and series in folders, recognised by their names.
#include "base/file.h"
#include "base/parallel.h"
#include "data/cases/read_case.h"
#include "data/formats/dicom_writing.h"
#include "data/formats/image_io.h"
#include "data/formats/image_writing.h"
#include "data/layouts/dataset.h"
#include "data/layouts/incomplete.h"
#include "data/layouts/open_dataset.h"
#include "data/layouts/prediction_input.h"
#include "data/volumes/orientation.h"
#include "tests/data/support.h"

namespace voxswap::data {
namespace {

using namespace test;

Image whole_numbers(const Geometry& slice_grid, std::uint64_t seed) {
  Image image = random_image(slice_grid, seed);
  for (float& value : image.voxels) value = std::round(1000 * value);
  return image;
}

const Geometry slice_grid = geometry({5, 4, 3});

void write_series(const fs::path& folder, const std::string& description, std::uint64_t seed) {
  fs::create_directories(folder);
  write_dicom(folder, whole_numbers(slice_grid, seed), description, format("1.{}", seed));
}

Dataset open(const fs::path& root, const Labels& labels = {{"tumor", 1}}) {
  DatasetOptions options = at(root);
  options.labels = labels;
  return open_dataset(options);
}

TEST(DicomSeries, ComeBackAsTheyWereWrittenTheSameBytesEachTime) {
  const TemporaryFolder folder;
  const Image image = whole_numbers(oblique_geometry({5, 4, 3}), 1);
  for (const char* name : {"a", "b"}) {
    fs::create_directories(folder / name);
    write_dicom(folder / name, image, "t1", "1.1");
  }
  testing::internal::CaptureStderr();
  const Image back = read_image(folder / "a");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  // Slices are ordered along the cross product of rows and columns; this grid is left-handed, so its third
  // axis is flipped.
  EXPECT_EQ(canonical(back).voxels, canonical(image).voxels);
  EXPECT_TRUE(same_grid(canonical(back).geometry, canonical(image).geometry)) << describe(back.geometry);
  for (const std::string& name : dicom_names(3)) {
    fs::ifstream a(folder / ("a/" + name), std::ios::binary), b(folder / ("b/" + name), std::ios::binary);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(a), {}),
              std::string(std::istreambuf_iterator<char>(b), {}));
  }
}

TEST(DicomSeries, AreWrittenAndReadBySeveralThreadsAtOnce) {
  const TemporaryFolder folder;
  const Geometry tall = geometry({5, 4, 30});
  std::vector<int> same(8);
  parallel_for(
      same.size(),
      [&](std::size_t i) {
        const fs::path series = folder.path() / std::to_string(i);
        fs::create_directories(series);
        const Image image = whole_numbers(tall, i);
        write_dicom(series, image, "t1", format("1.{}", i + 1));
        same[i] = read_image(series).voxels == image.voxels;
      },
      4);
  EXPECT_EQ(same, std::vector<int>(8, 1));
}

TEST(DicomCases, AreRecognisedByFoldersAndDescriptions) {
  const TemporaryFolder folder;
  write_series(folder / "p1/study/T1", "", 1);
  write_series(folder / "p1/study/0003", "ax T1 TSE +C gadovist", 2);
  write_series(folder / "p1/study/0004", "AX T2 FLAIR", 3);
  write_series(folder / "p1/study/0005", "localizer", 4);
  write_label_map(folder / "p1/p1_seg.nii.gz", random_labels(slice_grid, {0, 1}));
  write_series(folder / "p2/t1", "", 5);
  write_series(folder / "p2/t1ce", "", 6);
  write_series(folder / "p2/flair", "", 7);
  const Dataset dataset = open(folder.path());
  EXPECT_EQ(dataset.layout, "dicom");
  EXPECT_TRUE(
      contains(dataset.recognised, "1 series skipped: the description names no MRI sequence, e.g. 0005"));
  EXPECT_EQ(dataset.modalities, (std::vector<std::string>{"t1", "t1ce", "flair"}));
  ASSERT_EQ(dataset.cases.size(), 2U);
  const Volume volume = read_case(dataset, dataset.cases[0]);
  EXPECT_EQ(volume.id, "p1");
  EXPECT_TRUE(volume.has_truth());
  for (std::size_t c = 0; c < 3; ++c)
    EXPECT_EQ(volume.channels[c].voxels, whole_numbers(slice_grid, c + 1).voxels);
  EXPECT_FALSE(read_case(dataset, dataset.cases[1]).has_truth());
}

TEST(DicomCases, ThatAreAmbiguousOrLackASeriesAreReported) {
  const TemporaryFolder folder;
  write_series(folder / "p1/t1", "", 1);
  write_series(folder / "p1/t2", "", 2);
  write_series(folder / "p2/t1", "", 3);
  expect_failure([&] { open(folder.path()); }, Exit::bad_data, {"case p2", "t2 is missing"});
  write_series(folder / "p2/t2 fs", "", 4);
  write_series(folder / "p2/t2 sag", "", 5);
  expect_failure([&] { open(folder.path()); }, Exit::bad_data,
                 {"p2", "two series look like t2", "t2 fs", "t2 sag"});
}

TEST(DicomCases, WithoutAChannelNameTheUnusedSeriesThatMayBeItAndTheKeysToSet) {
  const TemporaryFolder folder;
  write_series(folder / "p1/1", "AX T1", 1);
  write_series(folder / "p1/2", "AX T2", 2);
  write_series(folder / "p2/1", "AX T1", 3);
  write_series(folder / "p2/2", "localizer", 4);
  write_series(folder / "p2/3", "T2 STIR", 5);
  expect_failure(
      [&] { open(folder.path()); }, Exit::bad_data,
      {"case p2: channel t2 is missing", "p2/3 (\"T2 STIR\") is not used: its description names \"stir\"",
       "If it is t2, set data.layout=dicom data.files='{t1: \"AX T1\", t2: \"T2 STIR\"}'"});
}

// A patient without any recognised series is still a case.
TEST(DicomCases, WithoutARecognisedSeriesAreReported) {
  const TemporaryFolder folder;
  write_series(folder / "p1/1", "AX T1", 1);
  write_series(folder / "p2/1", "series 7", 2);
  expect_failure([&] { open(folder.path()); }, Exit::bad_data,
                 {"case p2: channel t1 is missing", "If it is t1, set", "{t1: \"series 7\"}"});
}

std::string guesses(const Dataset& dataset) {
  std::string text;
  for (const SeriesGuess& guess : dataset.guesses)
    text += format("{} <- {} ({}); ", guess.channel, guess.written, guess.cases);
  return text;
}

TEST(DicomCases, ShowWhatWasReadOutOfNames) {
  const TemporaryFolder folder;
  for (const char* id : {"p1", "p2"}) {
    write_series(folder / format("{}/3", id), "T1 PRE-CONTRAST", 1 + static_cast<std::uint64_t>(id[1]));
    write_series(folder / format("{}/4", id), "AX T1 FLAIR +C", 2 + static_cast<std::uint64_t>(id[1]));
    write_series(folder / format("{}/flair", id), "", 3 + static_cast<std::uint64_t>(id[1]));
  }
  const Dataset dataset = open(folder.path());
  EXPECT_EQ(dataset.modalities, (std::vector<std::string>{"t1", "t1ce", "flair"}));
  EXPECT_EQ(guesses(dataset), "t1 <- T1 PRE-CONTRAST (2); t1ce <- AX T1 FLAIR +C (2); ");
}

TEST(DicomCases, WithAmbiguousSeriesAreRefusedUntilASettingDecides) {
  const TemporaryFolder folder;
  write_series(folder / "p1/1", "AX T1", 1);
  write_series(folder / "p1/2", "AX T1 POST", 2);
  write_series(folder / "p2/1", "AX T1", 3);
  write_series(folder / "p2/2", "AX T1 W/WO", 4);
  expect_failure(
      [&] { open(folder.path()); }, Exit::bad_data,
      {"case p2", "p2/2", "AX T1 W/WO", "is t1ce: ", "names contrast and also no contrast", "data.files"});
  DatasetOptions options = at(folder.path());
  options.labels = {{"tumor", 1}};
  options.files = {{"t1", "ax t1"}, {"t1ce", "*post*|*W/WO"}};
  for (const char* layout : {"auto", "dicom"}) {
    options.layout = layout;
    const Dataset dataset = open_dataset(options);
    EXPECT_EQ(dataset.layout, "dicom");
    ASSERT_EQ(dataset.cases.size(), 2U);
    EXPECT_EQ(read_case(dataset, dataset.cases[1]).channels[1].voxels, whole_numbers(slice_grid, 4).voxels);
    EXPECT_EQ(guesses(dataset), "");
  }
  options.files["t1"] = "*t1*";
  expect_failure([&] { open_dataset(options); }, Exit::bad_data,
                 {"it matches several patterns in data.files"});
  options.files["t1"] = "{case}/1";
  expect_failure([&] { open_dataset(options); }, Exit::usage, {"need data.layout: files"});
}

TEST(DicomCases, LeaveOutSeriesThatTheyHaveNoNeedOfAndSayWhich) {
  const TemporaryFolder folder;
  write_series(folder / "p1/1", "AX T1 PRE", 1);
  write_series(folder / "p1/2", "AX T1 POST", 2);
  write_series(folder / "p1/3", "AX T1 W/WO", 3);
  write_series(folder / "p1/4", "SWI", 4);
  write_series(folder / "p1/5", "series 5", 5);
  const Dataset dataset = open(folder.path());
  EXPECT_EQ(dataset.modalities, (std::vector<std::string>{"t1", "t1ce"}));
  const std::vector<Unused> unused = unused_in(dataset);
  ASSERT_EQ(unused.size(), 4U);  // and the case itself, which has no ground truth
  EXPECT_EQ(unused[0].path, folder.path() / "p1/3");
  EXPECT_EQ(unused[0].severity, "note");
  EXPECT_TRUE(contains(unused[1].why, "its description names \"swi\""));
  EXPECT_EQ(unused[2].severity, "warning");
  EXPECT_TRUE(contains(unused[2].why, "names no T1, T2 or FLAIR"));
}

TEST(DicomCases, AreFoundByPatternsAndOneByOneForPrediction) {
  const TemporaryFolder folder;
  write_series(folder / "p1/se_1", "", 1);
  write_series(folder / "p2/se_1", "", 2);
  DatasetOptions options = at(folder.path());
  options.files = {{"adc", "{case}/se_1"}};
  const Dataset dataset = open_dataset(options);
  ASSERT_EQ(dataset.cases.size(), 2U);
  EXPECT_EQ(read_case(dataset, dataset.cases[1]).channels[0].voxels, whole_numbers(slice_grid, 2).voxels);
  const Dataset one = open_for_prediction(dataset, options, folder / "p1/se_1");
  EXPECT_EQ(read_case(one, one.cases.at(0)).channels[0].voxels, whole_numbers(slice_grid, 1).voxels);
}

}  // namespace
}  // namespace voxswap::data
