// Tests the slice viewer of a report without a browser: the content of its volumes, and which of them a page
// contains.
#include <algorithm>

#include "base/json.h"
#include "pipeline/report/html.h"
#include "tests/expect.h"
#include "tests/pipeline/viewed_runs.h"

namespace voxswap::pipeline {
namespace {

class Viewer : public ViewedRuns {
 protected:
  std::string page(const std::vector<fs::path>& runs) const { return made_up_page(runs, folder_ / "out"); }
};

std::string bytes_of(const Json& volume) {
  return gunzipped(unbase64(volume));
}

std::size_t count_of(const std::string& text, const std::string& wanted) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(wanted, at)) != text.npos; at += wanted.size()) ++count;
  return count;
}

TEST_F(Viewer, HasLabelsByTheirPlaceInTheListAndGreysOverTheRangeOfTheChannel) {
  const data::Volume volume = made_up_volume(2);
  const Json study = Json::parse(viewed(volume, made_up_volume(3).truth));
  EXPECT_EQ(study["size"], Json({12, 10, 8}));
  const std::string truth = bytes_of(study["truth"]), flair = bytes_of(study["greys"][1]);
  ASSERT_EQ(truth.size(), 960u);
  ASSERT_EQ(flair.size(), 960u);
  const double low = study["channels"][1]["range"][0], high = study["channels"][1]["range"][1];
  for (std::size_t i = 0; i < 960; ++i) {
    EXPECT_EQ(truth[i], volume.truth.voxels[i] == 4 ? 2 : volume.truth.voxels[i]);
    const double value = low + static_cast<unsigned char>(flair[i]) / 255.0 * (high - low);
    EXPECT_NEAR(value, std::clamp<double>(volume.channels[1].voxels[i], low, high), (high - low) / 255);
  }
  EXPECT_NE(bytes_of(study["prediction"]), truth);
  EXPECT_EQ(study["regions"][0]["labels"], Json({1, 2}));
  EXPECT_EQ(study["regions"][1]["labels"], Json({2}));
}

TEST_F(Viewer, LeavesTheBackgroundOutAndCountsSlicesAsTheFileDoes) {
  data::Volume volume = made_up_volume(1);
  volume.channels[0].voxels.assign(960, 0.0F);
  volume.channels[1].voxels.assign(960, 0.0F);
  for (std::int64_t x = 5; x <= 7; ++x) volume.channels[0].at(x, 5, 4) = 1;
  volume.file_geometry = volume.truth.geometry;  // reversed x axis in the file
  volume.file_geometry.direction = {-1, 0, 0, 0, 1, 0, 0, 0, 1};
  const Json study = Json::parse(viewed(volume, volume.truth));
  EXPECT_EQ(study["size"],
            Json({5, 3, 3}));  // one voxel of margin along x; labels reach as far along the others
  EXPECT_EQ(study["slices"], Json({{8, -1, 12}, {5, 1, 10}, {4, 1, 8}}));
  EXPECT_EQ(bytes_of(study["truth"])[22], 2);  // the core, in the middle
}

TEST_F(Viewer, MakesGreysCoarserUntilTheyFitAndNeverLabels) {
  data::Volume volume = made_up_volume(2);
  volume.channels[0].geometry.spacing = volume.channels[1].geometry.spacing = {1, 1, 3};
  unsigned state = 1;  // noise, which does not compress
  for (data::Image& channel : volume.channels)
    for (float& value : channel.voxels)
      value = static_cast<float>((state = state * 1103515245 + 12345) >> 20);
  const std::size_t whole = viewed(volume, volume.truth).size();
  const std::string text = viewed(volume, volume.truth, static_cast<std::int64_t>(whole) / 2);
  EXPECT_LE(text.size(), whole / 2);
  const Json study = Json::parse(text);
  EXPECT_EQ(study["step"], Json({2, 2, 1}));  // the spacing of planes is already coarse
  EXPECT_EQ(bytes_of(study["greys"][0]).size(), 6u * 5 * 8);
  EXPECT_EQ(bytes_of(study["truth"]).size(), 960u);
}

TEST_F(Viewer, IsInThePageWithEveryVolumeOnce) {
  const std::vector<fs::path> runs = {make_viewed_run("first", 1), make_viewed_run("second", 2)};
  const std::string html = page(runs);
  EXPECT_EQ(count_of(html, "id=\"viewer-study-"), 4u);
  for (const fs::path& run : runs)
    for (const char* id : {"case_1.json", "case_2.json"}) {
      const Json study = Json::parse(read_file(run / viewer_folder / id));
      for (const Json& volume : {study["greys"][0], study["greys"][1], study["truth"], study["prediction"]})
        EXPECT_EQ(count_of(html, ">" + std::string(volume) + "<"), 1u);
    }
  EXPECT_FALSE(std::regex_search(html, std::regex("src=[\"']?(https?:)?//|import\\s*\\(|fetch\\s*\\(")));
}

TEST_F(Viewer, KeepsTheWorstCasesWhereThereIsNoRoomForAll) {
  const fs::path run = make_viewed_run("small", 1);
  const std::size_t first = read_file(run / viewer_folder / "case_1.json").size();
  write_file(run / "experiment.yaml", format("output:\n  viewer: {}B\n", first + 100));
  const std::string html = page({run});
  EXPECT_EQ(count_of(html, "id=\"viewer-study-"), 1u);
  EXPECT_TRUE(test::contains(html, "\"case_1\":{\"study\":\"viewer-study-1\"", "\"case_2\":{\"study\":null",
                             "The volumes of 1 case are not in this page: output.viewer"));
}

TEST_F(Viewer, IsLeftOutWhereTheExperimentSaysSo) {
  EXPECT_EQ(page({make_viewed_run("none", 1, "none")}).find("<script"), std::string::npos);
}

TEST_F(Viewer, TakesNothingOutOfADamagedFileIntoThePage) {
  const fs::path run = make_viewed_run("damaged", 1);
  Json study = Json::parse(read_file(run / viewer_folder / "case_1.json"));
  study["truth"] = "</script><script>alert(1)</script>";
  write_file(run / viewer_folder / "case_1.json", study.dump());
  study = Json::parse(read_file(run / viewer_folder / "case_2.json"));
  study["channels"][0]["name"] = "</script><script>alert(2)</script>";
  write_file(run / viewer_folder / "case_2.json", study.dump());
  const std::string html = page({run});
  EXPECT_EQ(html.find("<script>alert"), std::string::npos);
  EXPECT_TRUE(test::contains(html, "case_1.json: is not in the format that a run writes; skipped",
                             "\\u003cscript\\u003ealert(2)"));
}

TEST_F(Viewer, IsLedToByTheDotsOfTheBoxPlot) {
  const std::string html = page({make_viewed_run("plotted", 1)});
  if (html.find("<svg") == std::string::npos) GTEST_SKIP() << "without gnuplot there are no plots";
  for (int i = 1; i <= 4; ++i)
    EXPECT_NE(html.find(format("<title>case_{}: {:.3f}</title>", i, 0.2 * i)), std::string::npos);
  EXPECT_EQ(count_of(html, "data-group=\"plotted"), 4u);
}

}  // namespace
}  // namespace voxswap::pipeline
