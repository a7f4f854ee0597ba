// Tests the plots by their SVG: the number of boxes and points, their positions on the axis, and that no
// labels overlap.

#include "pipeline/report/plots.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>

#include "pipeline/report/run_groups.h"
#include "pipeline/sweep/sweep_output.h"
#include "tests/pipeline/svg_shapes.h"

namespace voxswap::pipeline {
namespace {

using test::boxes_of;
using test::collisions;
using test::points_of;
using test::texts_of;

const double nan = std::nan("");

BoxRow box(const std::string& resolution, const std::string& setting, const std::string& grid,
           const std::string& region, std::vector<double> values) {
  BoxRow row;
  row.resolution = resolution;
  row.setting = setting;
  row.evaluated_at = grid;
  row.region = region;
  row.metric = "dice";
  row.values = values;
  row.statistics = metrics::box_statistics(std::move(values));
  return row;
}

bool has_text(const std::string& svg, const std::string& wanted) {
  const std::vector<test::Text> texts = texts_of(svg);
  return std::any_of(texts.begin(), texts.end(), [&](const test::Text& text) { return text.text == wanted; });
}

// These texts are in the plot, and no text lies on another.
void expect_texts(const std::string& svg, const std::vector<std::string>& wanted) {
  for (const std::string& text : wanted) EXPECT_TRUE(has_text(svg, text)) << text;
  EXPECT_EQ(collisions(svg), std::vector<std::string>());
}

const std::vector<double> scores{0.7, 0.72, 0.75, 0.78, 0.8, 0.82, 0.85, 0.1};  // the last is an outlier

TEST(BoxPlot, HasABoxAMeanAndAllCasesOfEveryGroupRegionAndGrid) {
  std::vector<BoxRow> boxes;
  for (const char* resolution : {"96", "112", "144"}) {
    for (const char* grid : {"native", "training"}) {
      for (const char* region : {"whole_tumor", "tumor_core"})
        boxes.push_back(box(resolution, "", grid, region, scores));
    }
  }
  const std::string svg = box_plot(boxes).svg;
  EXPECT_EQ(boxes_of(svg).size(), 12u + 3u);  // and three in the legend
  EXPECT_EQ(points_of(svg, 13), 12u);         // means
  EXPECT_EQ(points_of(svg, 6), 12u);          // outliers
  EXPECT_EQ(points_of(svg, 7), 12u * 7u);     // other cases
  expect_texts(svg, {"on the native grid", "on the training grid"});
}

// The positions of the axis labels give the scale.
TEST(BoxPlot, DrawsQuartilesWhereTheAxisSays) {
  const BoxRow row = box("128", "", "native", "anterior", scores);
  const std::string svg = box_plot({row}).svg;
  double zero = nan, one = nan;
  for (const test::Text& text : texts_of(svg)) {
    if (text.text == "0") zero = text.y;
    if (text.text == "1") one = text.y;
  }
  ASSERT_FALSE(std::isnan(zero) || std::isnan(one));
  const double baseline = 0.325 * 13;  // gnuplot centres digits on their tic
  const auto y = [&](double value) { return zero + (one - zero) * value - baseline; };
  ASSERT_EQ(boxes_of(svg).size(), 1u);
  const test::Rectangle drawn = boxes_of(svg)[0];
  EXPECT_NEAR(drawn.y0, y(row.statistics.q3), 0.5);
  EXPECT_NEAR(drawn.y1, y(row.statistics.q1), 0.5);
}

TEST(BoxPlot, OfOneGroupHasNoLegend) {
  const std::string svg = box_plot({box("128", "", "native", "anterior", {0.9, 0.8, 0.85, 0.82, 0.88})}).svg;
  EXPECT_EQ(boxes_of(svg).size(), 1u);
  EXPECT_TRUE(has_text(svg, "Dice per region, n = 5, resolution 128, native grid"));
  EXPECT_TRUE(has_text(svg, "0.7"));  // the axis begins below the lowest case
  EXPECT_FALSE(has_text(svg, "0.6"));
}

TEST(BoxPlot, OfTwelveGroupsAndTwelveRegionsKeepsEverythingApart) {
  for (const int regions : {3, 12}) {
    std::vector<BoxRow> boxes;
    for (int group = 0; group < 12; ++group) {
      for (int region = 0; region < regions; ++region)
        boxes.push_back(box(std::to_string(64 + 32 * (group / 3)), format("planner number {}", group % 3),
                            "native", format("region_{}", region), scores));
    }
    const std::string svg = box_plot(boxes).svg;
    const std::vector<test::Rectangle> drawn = boxes_of(svg);
    ASSERT_EQ(drawn.size(), static_cast<std::size_t>(12 * regions + 12));
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      for (std::size_t j = i + 1; j < drawn.size(); ++j) EXPECT_FALSE(drawn[i].overlaps(drawn[j]));
    }
    EXPECT_EQ(collisions(svg), std::vector<std::string>());
  }
}

TEST(BoxPlot, BreaksLongNamesAndShortensThoseOfTheLegend) {
  std::vector<BoxRow> boxes;
  for (const char* setting :
       {"loss an_extremely_long_name_that_nobody_wants_to_read_in_a_legend_of_a_plot_at_all",
        "loss weighted_dice"}) {
    for (const char* region :
         {"left_anterior_superior_temporal_gyrus_including_the_planum", "\u00fcbergro\u00dfe_L\u00e4sion",
          "no_break_at_allno_break_at_allno_break_at_all"})
      boxes.push_back(box("240x240x155", setting, "native", region, scores));
  }
  const std::string svg = box_plot(boxes).svg;
  expect_texts(svg, {"superior temporal"});
  EXPECT_NE(svg.find("\u2026"), std::string::npos);
}

TEST(BoxPlot, SaysWhereThereIsNoNumber) {
  const std::string svg = box_plot({box("64", "", "native", "whole", {nan, nan}),
                                    box("64", "", "native", "core", {0.5, nan, 0.75})})
                              .svg;
  EXPECT_EQ(boxes_of(svg).size(), 0u);
  EXPECT_EQ(points_of(svg, 7), 2u);
  EXPECT_TRUE(has_text(svg, "no score"));
  EXPECT_TRUE(has_text(svg, "Dice per region, n = 0 to 2, resolution 64, native grid"));
  EXPECT_EQ(boxes_of(box_plot({box("64", "", "native", "whole", {nan})}).svg).size(), 0u);
}

TEST(BoxPlot, OfFewerThanFiveCasesShowsTheCasesInsteadOfABox) {
  const auto plot = [](std::vector<double> values) {
    return box_plot({box("64", "", "native", "whole", std::move(values))}).svg;
  };
  const std::string two = plot({0.5, 0.75}), five = plot({0.5, 0.55, 0.6, 0.7, 0.75});
  EXPECT_EQ(boxes_of(two).size(), 0u);
  EXPECT_EQ(points_of(two, 7), 2u);
  EXPECT_EQ(points_of(two, 13), 0u);  // two cases have no mean
  EXPECT_NE(two.find("fewer than 5 cases: large dots: cases   line: median"), std::string::npos);
  EXPECT_EQ(boxes_of(five).size(), 1u);
}

std::vector<RunGroup> groups(const std::vector<std::pair<std::string, std::string>>& of) {
  std::vector<RunInTable> runs;
  for (const auto& [resolution, planner] : of)
    runs.push_back({resolution + planner, resolution, {{"memory.planner", planner}}});
  return group_runs(runs);
}

BoxRow named_box(const std::string& resolution, const std::string& region,
                 const std::vector<double>& values) {
  BoxRow row = box(resolution, "", "native", region, values);
  for (std::size_t i = 0; i < values.size(); ++i) row.cases.push_back(format("case_{}", i));
  return row;
}

// The distance between tics is that between resolutions, and a mean has the height of its tic.
TEST(DicePlot, DrawsResolutionsToScaleWithADotPerCaseAndMean) {
  const std::vector<RunGroup> three = groups({{"32", ""}, {"64", ""}, {"128", ""}});
  const std::vector<BoxRow> boxes = {named_box("32", "tumor_core", {0.2, 0.4}),
                                     named_box("64", "tumor_core", {0.4, 0.6}),
                                     named_box("128", "tumor_core", {0.5, 0.7})};
  const std::string svg = dice_plot(boxes, three).svg;
  EXPECT_EQ(points_of(svg, 7), 3u * 2u + 2u * 3u);  // gnuplot draws the dot of an error bar twice
  std::map<std::string, double> x, y;
  for (const test::Text& text : texts_of(svg)) {
    x[text.text] = text.x;
    y[text.text] = text.y - 0.325 * 13;  // gnuplot centres digits on their tic
  }
  ASSERT_TRUE(x.contains("32") && x.contains("64") && x.contains("128"));
  EXPECT_NEAR((x["128"] - x["64"]) / (x["64"] - x["32"]), 2, 0.02);
  const std::vector<double> columns = test::columns_of_points(svg, 7);
  EXPECT_EQ(
      std::count_if(columns.begin(), columns.end(), [&](double at) { return std::fabs(at - x["64"]) < 0.5; }),
      4);
  expect_texts(svg, {"tumor core", "voxels per side"});
}

TEST(DicePlot, OfSettingsHasTheirNamesAndOfOneGroupIsEmpty) {
  std::vector<RunInTable> runs;
  for (const char* loss : {"dice", "focal"}) runs.push_back({loss, "64", {{"training.loss", loss}}});
  const std::vector<RunGroup> two = group_runs(runs);
  std::vector<BoxRow> boxes = {named_box("64", "whole", {0.2, 0.4}), named_box("64", "whole", {0.4, 0.6})};
  boxes[0].setting = two[0].setting;
  boxes[1].setting = two[1].setting;
  const std::string svg = dice_plot(boxes, two).svg;
  expect_texts(svg, {"focal", "Loss"});
  EXPECT_TRUE(dice_plot({boxes[0]}, {two[0]}).svg.empty());
}

// "64 hybrid" is slower and worse than "64 keep".
TEST(ParetoPlot, ConnectsTheGroupsThatNoOtherBeats) {
  const std::vector<std::pair<std::string, std::string>> cells = {
      {"32", "keep"}, {"64", "keep"}, {"64", "hybrid"}, {"128", "keep"}};
  const std::vector<RunGroup> of = groups(cells);
  const std::vector<double> dice = {0.5, 0.7, 0.6, 0.8}, epoch = {10, 20, 40, 80};
  Ranking ranking;
  std::vector<TimingRow> rows;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    TimingRow& row = rows.emplace_back();
    row.run = cells[i].first + cells[i].second;
    row.resolution = cells[i].first;
    row.epoch_seconds_mean = epoch[i];
    RankedGroup& ranked = ranking.groups.emplace_back();
    ranked.group = group_of(of, row.run, row.resolution);
    ranked.dice = dice[i];
  }
  std::string svg = pareto_plot(ranking, rows, of).svg;
  EXPECT_EQ(points_of(svg, 7), 4u + 4u);  // and the legend
  static const std::regex dashed("stroke-dasharray='[\\d.,]+'  d='(M[^ ]+ L[^ ]+ L[^ ]+)  '");
  EXPECT_TRUE(std::regex_search(svg, dashed)) << "a front of three groups";
  EXPECT_TRUE(has_text(svg, "epoch, s"));
  EXPECT_FALSE(has_text(svg, "device memory, MiB"));  // unknown
  for (TimingRow& row : rows) row.device_peak_bytes = static_cast<std::int64_t>(row.epoch_seconds_mean) << 20;
  svg = pareto_plot(ranking, rows, of).svg;
  EXPECT_EQ(points_of(svg, 7), 2u * 4u + 4u);
  EXPECT_TRUE(has_text(svg, "device memory, MiB"));
  EXPECT_EQ(collisions(svg), std::vector<std::string>());
  ranking.groups.resize(1);
  EXPECT_TRUE(pareto_plot(ranking, rows, of).svg.empty());
}

// gnuplot takes a % in the name of a tic for a format, executes text between backquotes, and does not escape
// ]]> in SVG.
TEST(BoxPlot, ShowsAnyNameAsItIs) {
  const std::vector<std::string> names = {"100%",        "a%db%s",        "`touch x`", "]]>",
                                          "'; system 1", "\"quoted\\ \"", "@name",     "<b>&amp;"};
  std::vector<BoxRow> boxes;
  for (const std::string& name : names) boxes.push_back(box("64", "", "native", name, scores));
  const Picture picture = box_plot(boxes);
  for (const char* shown : {"100%", "a%db%s", "]]&gt;", "@name", "&lt;b>&amp;amp;"})
    EXPECT_TRUE(has_text(picture.svg, shown)) << shown;
  EXPECT_NE(picture.svg.find("`touch x`"), std::string::npos);
  EXPECT_EQ(picture.svg.find("]]>"), std::string::npos);
  const auto region = box_plot({box("64", "", "native", "caf\xE9", scores)}).svg;  // Latin 1
  EXPECT_TRUE(has_text(region, "caf\uFFFD"));
}

TEST(Plots, HaveTitlesOfTheirOwn) {
  const std::string svg = box_plot({box("64", "", "native", "whole", scores)}).svg;
  EXPECT_NE(svg.find("<title>Dice per region, n = 8, resolution 64, native grid</title>"), std::string::npos);
  EXPECT_EQ(svg.find("nuplot</title>"), std::string::npos);
  EXPECT_EQ(svg.find("<title>gnuplot"), std::string::npos);
}

TEST(EpochsPlot, HasALineForEveryRepeatAndANameForEveryGroup) {
  std::vector<EpochRow> rows;
  for (const char* resolution : {"64", "96"}) {
    for (int repeat = 1; repeat <= 2; ++repeat) {
      for (int epoch = 1; epoch <= 3; ++epoch) {
        EpochRow row;
        row.run = resolution;
        row.resolution = resolution;
        row.repeat = repeat;
        row.epoch = epoch;
        row.seconds = 2;
        row.train_loss = epoch == 2 ? nan : -0.1 * epoch;
        rows.push_back(row);
      }
    }
  }
  const std::string svg = epochs_plot(rows, {}, group_runs({{"64", "64", {}}, {"96", "96", {}}})).svg;
  // One point per epoch and repeat for validation loss, learning rate and seconds; those of training without
  // the NaN.
  EXPECT_EQ(points_of(svg, 7), 12u + 12u + 12u + 8u);
  EXPECT_EQ(points_of(svg, 6), 4u + 1u);  // the best of each, and one in the legend
  expect_texts(svg, {"64 (resolution 64)", "96 (resolution 96)", "training", "validation"});
}

// Rings in the panels of loss and Dice mark the epoch with the lowest validation loss.
TEST(EpochsPlot, MarksTheEpochThatIsKeptAndShowsDiceAndLearningRate) {
  std::vector<EpochRow> rows;
  std::vector<ValidationRow> validation;
  const std::vector<double> losses = {0.5, 0.2, 0.3};
  for (std::size_t i = 0; i < losses.size(); ++i) {
    EpochRow& row = rows.emplace_back();
    row.run = "a";
    row.resolution = "64";
    row.epoch = static_cast<std::int64_t>(i) + 1;
    row.validation_loss = losses[i];
    row.learning_rate = 1e-3;
    for (const char* region : {"whole", "core"})
      validation.push_back({"a", 1, "64", row.epoch, 1, region, 0.5});
  }
  const std::string svg = epochs_plot(rows, validation, group_runs({{"a", "64", {}}})).svg;
  EXPECT_EQ(points_of(svg, 7), 5u * 3u);  // both losses, Dice, learning rate, seconds
  double second = nan;
  for (const test::Text& text : texts_of(svg)) {
    if (text.text == "2") second = text.x;
  }
  const std::vector<double> rings = test::columns_of_points(svg, 6);
  ASSERT_EQ(rings.size(), 3u);  // the last is in the legend
  EXPECT_NEAR(rings[0], second, 0.5);
  EXPECT_NEAR(rings[1], second, 0.5);
  expect_texts(svg, {"Mean validation Dice, training grid", "Learning rate", "best epoch"});
}

TEST(EpochsPlot, ShowsAveragedWeightsWhereARunHasThem) {
  std::vector<EpochRow> rows;
  std::vector<ValidationRow> validation;
  for (int epoch = 1; epoch <= 3; ++epoch) {
    EpochRow& row = rows.emplace_back();
    row.run = "a";
    row.resolution = "64";
    row.epoch = epoch;
    row.validation_loss = 0.1 * epoch;
    validation.push_back({"a", 1, "64", epoch, 1, "whole", 0.5});
    if (epoch == 1) continue;
    row.averaged_validation_loss = 0.05 * epoch;
    validation.back().averaged_dice = 0.75;
  }
  const std::string svg = epochs_plot(rows, validation, group_runs({{"a", "64", {}}})).svg;
  EXPECT_EQ(points_of(svg, 7), 5u * 3u + 2u * 2u)
      << "both losses, Dice, rate, seconds; loss and Dice of the average";
  expect_texts(svg, {"averaged weights"});
}

TEST(ValidationPlot, HasAPanelForEveryRegion) {
  std::vector<ValidationRow> rows;
  for (const char* region : {"whole_tumor", "tumor_core", "enhancing_tumor", "x"}) {
    rows.push_back({"a", 1, "64", 1, 60, region, 0.5});
    rows.push_back({"a", 1, "64", 2, 240, region, 0.75});
  }
  const std::string svg = validation_plot(rows, group_runs({{"a", "64", {}}})).svg;
  EXPECT_EQ(points_of(svg, 7), 8u);
  expect_texts(svg, {"whole tumor", "x", "minutes of training"});
}

std::vector<TimingRow> timing(const std::vector<std::pair<std::string, std::string>>& of, double gbps) {
  std::vector<TimingRow> rows;
  for (const auto& [resolution, planner] : of) {
    TimingRow row;
    row.run = resolution + planner;
    row.resolution = resolution;
    row.planner = planner;
    row.epoch_seconds_mean = 2;
    row.overhead = 1.25;
    row.utilization = 0.8;
    row.to_host_gbps = row.to_device_gbps = gbps;
    rows.push_back(row);
  }
  return rows;
}

TEST(TimingPlot, GoesOverVoxelsPerSideWithALineForEveryPlanner) {
  const std::vector<std::pair<std::string, std::string>> cells = {
      {"64", "keep"}, {"64", "hybrid"}, {"128", "keep"}, {"128", "hybrid"}};
  const std::string svg = timing_plot(timing(cells, 0), groups(cells)).svg;
  EXPECT_EQ(points_of(svg, 7), 3u * 4u + 2u);  // seconds, overhead, utilisation; two in the legend
  expect_texts(svg, {"voxels per side", "planner keep", "planner hybrid"});
  const std::string swapping = timing_plot(timing(cells, 9), groups(cells)).svg;
  EXPECT_EQ(points_of(swapping, 7), 5u * 4u + 2u);
}

TEST(TimingPlot, HasNamesAlongTheAxisWhereNoNumberWasVaried) {
  const std::vector<std::pair<std::string, std::string>> cells = {
      {"64", "keep"}, {"64", "hybrid"}, {"64", "checkpoint"}, {"64", "lms-threshold"}, {"64", "tflms"}};
  const std::string svg = timing_plot(timing(cells, 0), groups(cells)).svg;
  EXPECT_EQ(points_of(svg, 7), 0u);
  EXPECT_EQ(test::bars_of(svg).size(), 3u * 5u);
  EXPECT_NE(svg.find("<text>lms-threshold</text>"), std::string::npos);
  EXPECT_TRUE(has_text(svg, "Planner"));
}

TEST(TimingPlot, OfOneGroupIsNone) {
  EXPECT_EQ(timing_plot(timing({{"64", "keep"}}, 0), groups({{"64", "keep"}})).svg, "");
}

TEST(MemoryPlot, HasAPanelForEveryMemoryThatIsUsed) {
  std::vector<MemoryRow> rows = {{"a", "64", "keep", 0, 1 << 20, 0, 0}, {"a", "64", "keep", 0.5, 0, 0, 0}};
  const std::vector<RunGroup> one = group_runs({{"a", "64", {}}});
  std::string svg = memory_plot(rows, one).svg;
  EXPECT_TRUE(has_text(svg, "Device arena, MiB"));
  EXPECT_TRUE(has_text(svg, "milliseconds within a step (predicted)"));
  EXPECT_EQ(svg.find("Host pool"), std::string::npos);
  rows[0].host_bytes = 4096;
  svg = memory_plot(rows, one).svg;
  EXPECT_TRUE(has_text(svg, "Host pool, KiB"));
  EXPECT_EQ(collisions(svg), std::vector<std::string>());
}

// A value of 0 lies on the axis. The plan's last row (what remains after the step) is not drawn there.
TEST(MemoryPlot, ShowsTheBudgetAndDoesNotEndWithAFall) {
  std::vector<MemoryRow> rows = {{"a", "64", "keep", 0, 1 << 20, 0, 0, 3 << 20},
                                 {"a", "64", "keep", 0.5, 2 << 20, 0, 0, 3 << 20},
                                 {"a", "64", "keep", 1, 0, 0, 0, 3 << 20}};
  const std::vector<RunGroup> one = group_runs({{"a", "64", {}}});
  const std::string svg = memory_plot(rows, one).svg;
  expect_texts(svg, {"budget 3.00 MiB"});
  double axis = nan;
  for (const test::Text& text : texts_of(svg)) {
    if (text.text == "0" && (std::isnan(axis) || text.y < axis)) axis = text.y - 0.325 * 13;  // of bytes
  }
  const std::vector<double> heights = test::heights_of_lines(svg, "143, 111, 224");  // series_color(0)
  ASSERT_FALSE(heights.empty());
  for (const double y : heights) EXPECT_LT(y, axis - 10);
  for (MemoryRow& row : rows) row.budget_bytes = 1 << 30;
  EXPECT_TRUE(has_text(memory_plot(rows, one).svg, "Device arena, MiB (budget 1.00 GiB, above this plot)"));
  for (MemoryRow& row : rows) {
    row.host_bytes = 4096;
    row.host_budget_bytes = 5120;
  }
  EXPECT_TRUE(has_text(memory_plot(rows, one).svg, "budget 5.00 KiB"));
}

TEST(SweepPlots, IsEmptyWhereNoRowHasANumberToDraw) {
  const Csv figures = {{"budget", "size"}, {{"1MiB", ""}, {"4MiB", ""}}};
  EXPECT_TRUE(sweep_plot(figures, {"budget", "size", {}}).svg.empty());
  const Csv one = {{"budget", "size"}, {{"1MiB", ""}, {"4MiB", "16"}}};
  EXPECT_TRUE(has_text(sweep_plot(one, {"budget", "size", {}}).svg, "4MiB"));
}

}  // namespace
}  // namespace voxswap::pipeline
