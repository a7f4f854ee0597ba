// DICOM as a data set: cases, studies and series in folders, recognised by their names.
#include <algorithm>

#include "base/file.h"
#include "base/parallel.h"
#include "data/cases/check.h"
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

// A folder with series at these paths and with these descriptions; series i has whole_numbers(…, i + 1).
class DicomCases : public testing::Test {
 protected:
  using Series = std::vector<std::pair<std::string, std::string>>;

  void write(const Series& all) {
    for (const auto& [path, description] : all) {
      fs::create_directories(folder_ / path);
      ++written_;
      write_dicom(folder_ / path, whole_numbers(slice_grid, written_), description, format("1.{}", written_));
    }
  }
  Dataset open() const {
    DatasetOptions options = at(folder_.path());
    options.labels = {{"tumor", 1}};
    return open_dataset(options);
  }

  TemporaryFolder folder_;
  std::uint64_t written_ = 0;
};

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

TEST_F(DicomCases, AreRecognisedByFoldersAndDescriptions) {
  write({{"p1/study/T1", ""},
         {"p1/study/0003", "ax T1 TSE +C gadovist"},
         {"p1/study/0004", "AX T2 FLAIR"},
         {"p1/study/0005", "localizer"}});
  write_label_map(folder_ / "p1/p1_seg.nii.gz", random_labels(slice_grid, {0, 1}));
  write({{"p2/t1", ""}, {"p2/t1ce", ""}, {"p2/flair", ""}});
  const Dataset dataset = open();
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

TEST_F(DicomCases, WithSeriesOfTwoPatientsAreReported) {
  write({{"p/t1", "t1"}, {"p/flair", "flair"}});
  const auto set_patient = [&](const char* series, const char* patient) {
    for (const auto& entry : fs::directory_iterator(folder_ / series)) {
      std::string file = read_file(entry.path());
      const std::size_t element = file.find(std::string("\x10\x00\x20\x00", 4));
      ASSERT_NE(element, std::string::npos);
      file[element + 4] = 2;
      write_file(entry.path(), file.insert(element + 8, patient));
    }
  };
  const auto is_reported = [&] {
    const CheckReport report = check_listed(open(), {});
    return std::ranges::any_of(report.problems,
                               [](const Problem& one) { return contains(one.what, "PatientID differs"); });
  };
  set_patient("p/t1", "A1");
  EXPECT_FALSE(is_reported()) << "the other series has no identifier";
  set_patient("p/flair", "B1");
  EXPECT_TRUE(is_reported());
}

TEST_F(DicomCases, ThatAreAmbiguousOrLackASeriesAreReported) {
  write({{"p1/t1", ""}, {"p1/t2", ""}, {"p2/t1", ""}});
  expect_failure([&] { open(); }, Exit::bad_data, {"case p2", "t2 is missing"});
  write({{"p2/t2 fs", ""}, {"p2/t2 sag", ""}});
  expect_failure([&] { open(); }, Exit::bad_data, {"p2", "two series look like t2", "t2 fs", "t2 sag"});
}

TEST_F(DicomCases, WithoutAChannelNameTheUnusedSeriesThatMayBeItAndTheKeysToSet) {
  write(
      {{"p1/1", "AX T1"}, {"p1/2", "AX T2"}, {"p2/1", "AX T1"}, {"p2/2", "localizer"}, {"p2/3", "T2 STIR"}});
  expect_failure(
      [&] { open(); }, Exit::bad_data,
      {"case p2: channel t2 is missing", "p2/3 (\"T2 STIR\") is not used: its description names \"stir\"",
       "If it is t2, set data.layout=dicom data.files='{t1: \"AX T1\", t2: \"T2 STIR\"}'"});
}

// A patient without any recognised series is still a case.
TEST_F(DicomCases, WithoutARecognisedSeriesAreReported) {
  write({{"p1/1", "AX T1"}, {"p2/1", "series 7"}});
  expect_failure([&] { open(); }, Exit::bad_data,
                 {"case p2: channel t1 is missing", "If it is t1, set", "{t1: \"series 7\"}"});
}

std::string guesses(const Dataset& dataset) {
  std::string text;
  for (const SeriesGuess& guess : dataset.guesses)
    text += format("{} <- {} ({}); ", guess.channel, guess.written, guess.cases);
  return text;
}

TEST_F(DicomCases, ShowWhatWasReadOutOfNames) {
  for (const std::string id : {"p1", "p2"})
    write({{id + "/3", "T1 PRE-CONTRAST"}, {id + "/4", "AX T1 FLAIR +C"}, {id + "/flair", ""}});
  const Dataset dataset = open();
  EXPECT_EQ(dataset.modalities, (std::vector<std::string>{"t1", "t1ce", "flair"}));
  EXPECT_EQ(guesses(dataset), "t1 <- T1 PRE-CONTRAST (2); t1ce <- AX T1 FLAIR +C (2); ");
}

TEST_F(DicomCases, WithAmbiguousSeriesAreRefusedUntilASettingDecides) {
  write({{"p1/1", "AX T1"}, {"p1/2", "AX T1 POST"}, {"p2/1", "AX T1"}, {"p2/2", "AX T1 W/WO"}});
  expect_failure(
      [&] { open(); }, Exit::bad_data,
      {"case p2", "p2/2", "AX T1 W/WO", "is t1ce: ", "names contrast and also no contrast", "data.files"});
  DatasetOptions options = at(folder_.path());
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

TEST_F(DicomCases, LeaveOutSeriesThatTheyHaveNoNeedOfAndSayWhich) {
  write({{"p1/1", "AX T1 PRE"},
         {"p1/2", "AX T1 POST"},
         {"p1/3", "AX T1 W/WO"},
         {"p1/4", "SWI"},
         {"p1/5", "series 5"}});
  const Dataset dataset = open();
  EXPECT_EQ(dataset.modalities, (std::vector<std::string>{"t1", "t1ce"}));
  const std::vector<Unused> unused = unused_in(dataset);
  ASSERT_EQ(unused.size(), 4U);  // and the case itself, which has no ground truth
  EXPECT_EQ(unused[0].path, folder_.path() / "p1/3");
  EXPECT_EQ(unused[0].severity, "note");
  EXPECT_TRUE(contains(unused[1].why, "its description names \"swi\""));
  EXPECT_EQ(unused[2].severity, "warning");
  EXPECT_TRUE(contains(unused[2].why, "names no T1, T2 or FLAIR"));
}

TEST_F(DicomCases, AreFoundByPatternsAndOneByOneForPrediction) {
  write({{"p1/se_1", ""}, {"p2/se_1", ""}});
  DatasetOptions options = at(folder_.path());
  options.files = {{"adc", "{case}/se_1"}};
  const Dataset dataset = open_dataset(options);
  ASSERT_EQ(dataset.cases.size(), 2U);
  EXPECT_EQ(read_case(dataset, dataset.cases[1]).channels[0].voxels, whole_numbers(slice_grid, 2).voxels);
  const Dataset one = open_for_prediction(dataset, options, folder_ / "p1/se_1");
  EXPECT_EQ(read_case(one, one.cases.at(0)).channels[0].voxels, whole_numbers(slice_grid, 1).voxels);
}

}  // namespace
}  // namespace voxswap::data
