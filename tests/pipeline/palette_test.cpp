// Tests that all pictures of a report use one palette, and that its colours are distinguishable for all
// readers.
#include "pipeline/report/palette.h"

#include <cmath>
#include <set>

#include "data/decoders/raster.h"
#include "pipeline/report/group_colors.h"
#include "pipeline/report/slice_view.h"
#include "tests/pipeline/viewed_runs.h"

namespace voxswap::pipeline {
namespace {

// Relative luminance of WCAG 2.
double luminance(const Color& color) {
  constexpr double share[3] = {0.2126, 0.7152, 0.0722};
  double sum = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    const double value = color[c] / 255.0;
    sum += share[c] * (value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4));
  }
  return sum;
}

TEST(Palette, IsVisibleOnWhiteAndOnBlackAndNeverRepeats) {
  std::set<Color> seen;
  for (std::size_t i = 0; i < 300; ++i) {
    const Color color = palette_color(i);
    EXPECT_TRUE(seen.insert(color).second) << i;
    EXPECT_GE(1.05 / (luminance(color) + 0.05), 2.0) << palette_name(i) << " on white";
    EXPECT_GE((luminance(color) + 0.05) / 0.05, 3.5) << palette_name(i) << " on black";
  }
}

TEST(Ramp, DarkensAndIsVisibleOnWhiteAndOnBlack) {
  double before = 1;
  for (int step = 0; step <= 10; ++step) {
    const double light = luminance(ramp_color(step / 10.0));
    EXPECT_LT(light, before);
    EXPECT_GE(1.05 / (light + 0.05), 2.0) << step << " on white";
    EXPECT_GE((light + 0.05) / 0.05, 3.5) << step << " on black";
    before = light;
  }
}

TEST(GroupColors, AreARampOfResolutionsAndNeverThoseOfTheFirstSixRegions) {
  const std::vector<RunGroup> resolutions = group_runs({{"a", "64", {}}, {"b", "96", {}}, {"c", "128", {}}});
  EXPECT_EQ(group_color(resolutions, 0), hex(ramp_color(0)));
  EXPECT_EQ(group_color(resolutions, 1), hex(ramp_color(0.5)));
  EXPECT_EQ(group_color(resolutions, 2), hex(ramp_color(1)));
  std::vector<RunInTable> planners;
  for (const char* planner : {"keep", "hybrid", "tflms"})
    planners.push_back({planner, "64", {{"memory.planner", planner}}});
  const std::vector<RunGroup> settings = group_runs(planners);
  for (std::size_t group = 0; group < 3; ++group)
    for (std::size_t region = 0; region < 6; ++region) {
      EXPECT_NE(group_color(settings, group), plot_color(region));
      EXPECT_NE(group_color(resolutions, group), plot_color(region));
    }
}

class Colors : public ViewedRuns {
 protected:
  // A run with scores of both regions, and pictures of its first two cases.
  fs::path make_colored_run() const {
    const fs::path run = make_viewed_run("first", 1);
    std::vector<DiceRow> rows = rows_in<DiceRow>(run / "dice.csv"), both;
    for (DiceRow& row : rows) {
      both.push_back(row);
      row.region = "tumor_core";
      both.push_back(row);
    }
    write_csv(run / "dice.csv", csv_of(both));
    fs::create_directories(run / "slices");
    for (int i = 1; i <= 2; ++i) {
      data::Volume volume = made_up_volume(i);
      for (std::size_t v = 0; v < volume.truth.voxels.size(); v += 2)
        if (volume.truth.voxels[v] == 1) volume.truth.voxels[v] = 4;
      write_slices(run / "slices" / format("case_{}.png", i),
                   {format("case_{}", i), "t1", volume.channels[0], volume.truth, volume.truth, regions_,
                    volume.truth.geometry});
    }
    return run;
  }
};

TEST_F(Colors, OfARegionAreTheSameInViewerPlotsAndPictures) {
  const fs::path run = make_colored_run();
  report_made_up({run}, run);
  const std::string html = read_file(run / "report.html"), plot = read_file(run / "boxplot.svg");
  const data::PngPixels picture =
      data::read_png(run / "slices/case_2.png", data::PngPart::pixels, data::RasterMeaning::brightness);
  std::set<Color> drawn;
  for (std::size_t i = 0; i + 2 < picture.rows.size(); i += 3)
    drawn.insert({std::to_integer<std::uint8_t>(picture.rows[i]),
                  std::to_integer<std::uint8_t>(picture.rows[i + 1]),
                  std::to_integer<std::uint8_t>(picture.rows[i + 2])});
  EXPECT_NE(html.find(format("\"regions\":[\"{}\",\"{}\"]", plot_color(0), plot_color(1))), html.npos);
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    const Color color = palette_color(i);
    EXPECT_TRUE(drawn.contains(color)) << regions_[i].first;
    EXPECT_NE(html.find(format("background:{}\"></span> {} 0.", hex(color), with_spaces(regions_[i].first))),
              html.npos);
    EXPECT_NE(plot.find(format("rgb({:3}, {:3}, {:3})", color[0], color[1], color[2])), plot.npos);
  }
}

}  // namespace
}  // namespace voxswap::pipeline
