// Tests report.html of synthetic runs: its summary, tables and pictures, and that omissions are stated.
#include <cctype>

#include "base/file.h"
#include "pipeline/report/html.h"
#include "pipeline/report/report.h"
#include "pipeline/report/slice_view.h"
#include "tests/expect.h"
#include "tests/pipeline/made_up_runs.h"

namespace voxswap::pipeline {
namespace {

class Page : public MadeUpRuns {};

std::vector<std::string> all_of(const std::string& html, const std::string& pattern) {
  std::vector<std::string> found;
  const std::regex wanted(pattern);
  for (std::sregex_iterator at(html.begin(), html.end(), wanted), none; at != none; ++at)
    found.push_back((*at)[1]);
  return found;
}

// The content that the link <a download="NAME"> saves.
std::string downloaded(const std::string& html, const std::string& name) {
  const std::regex link(format("download=\"{}\" href=\"data:text/csv;charset=utf-8;base64,([^\"]*)\"", name));
  std::smatch match;
  if (!std::regex_search(html, match, link)) return "no link";
  return unbase64(match[1]);
}

TEST_F(Page, HasTablesThatSaveWithHeadingsThatAreWords) {
  const fs::path a = first(), b = second(), out = folder_ / "merged";
  write_file(a / "plan.json", R"({"planner": "keep", "peak_bytes": 1048576})");
  const std::string html = made_up_page({a, b}, out);
  const std::vector<std::string> headings = all_of(html, "<th[^>]*>([^<]*)</th>");
  EXPECT_GE(headings.size(), 20u);
  for (const std::string& heading : headings) {
    EXPECT_EQ(heading.find('_'), std::string::npos) << heading;
    EXPECT_FALSE(!heading.empty() && std::islower(static_cast<unsigned char>(heading[0])) &&
                 heading != "p, corrected")
        << heading;
  }
  const std::size_t tables = all_of(html, "(<table)").size();
  EXPECT_GE(tables, 6u);
  EXPECT_EQ(all_of(html, "(</table></div>\\s*<p class=\"download\"><a download=)").size(), tables);
}

TEST_F(Page, SaysThatTheEpochWasSelectedOnTheScoredCases) {
  EXPECT_TRUE(
      test::contains(made_up_page({first()}, folder_ / "merged"),
                     "the epoch with the lowest validation loss on these cases, so scores are slightly"));
}

// On a narrow screen every cell shows its own heading.
TEST_F(Page, FitsNarrowScreens) {
  const fs::path a = first(), b = second(), out = folder_ / "merged";
  const std::string html = made_up_page({a, b}, out);
  EXPECT_TRUE(
      test::contains(html, "<td class=\"number\" data-label=\"Mean Dice\">", "content: attr(data-label)"));
  for (const std::string& least : all_of(html, "min-width:(\\d+)px;max-width")) EXPECT_EQ(least, "0");
}

TEST_F(Page, SaysFirstWhichGroupIsBestAndWhenFromWhatAndForHowLongRunsWent) {
  const fs::path a = first(), b = second(), out = folder_ / "merged";
  for (const fs::path& run : {a, b}) {
    write_file(run / "experiment.yaml",
               "data:\n  root: /scans\nran_with:\n  voxswap: \"9.9\"\n  commit: \"0123abcd\"\n  started: "
               "\"2026-01-02 03:04 UTC\"\n");
    write_file(run / "split.csv", "case,part\nx,training\ny,training\ncase_1,validation\n");
  }
  write_csv(a / "phases.csv", csv_of<PhaseRow>({{"first", "training", 61}, {"first", "predicting", 4}}));
  std::string dice = read_file(b / "dice.csv");
  dice.replace(dice.find(",0.8,"), 5, ",0.9,");
  write_file(b / "dice.csv", dice);
  for (const fs::path& run : {a, b}) {
    std::vector<TimingRow> timing = rows_in<TimingRow>(run / "timing.csv");
    timing[0].epoch_seconds_mean = run == a ? 2 : 5;
    write_csv(run / "timing.csv", csv_of(timing));
  }
  const std::string html = made_up_page({a, b}, out);
  const std::size_t first_heading = html.find("<h2>");
  for (const char* fact :
       {"Increasing the resolution from 64 to 96 voxels per side does not change Dice "
        "significantly (whole tumor +0.025",
        "<title>Dice against resolution</title>", "<title>Dice against time and memory</title>",
        "Best: second (resolution 96), mean Dice 0.525 over 4 cases",
        "Lead over first (resolution 64): 0.025", "not significant, n = 4", "2026-01-02 03:04 UTC",
        "0123abcd", "/scans", "2 training, 1 validation",
        "1 min 05 s: training 1 min 01 s, predicting 4.0 s"})
    EXPECT_LT(html.find(fact), first_heading) << fact;
  EXPECT_EQ(read_csv(out / "phases.csv").rows.size(), 2u);
}

TEST_F(Page, ShowsAllGroupsOrNamesThoseThatItLeavesOut) {
  std::vector<fs::path> runs;
  for (int i = 1; i <= 8; ++i) {
    runs.push_back(make_run(format("r{}", i), format("run_{}", i), std::to_string(32 + i)));
    fs::create_directories(runs.back() / "slices");
    write_file(runs.back() / "slices" / "case_1.png", format("picture {}", i));
    write_file(runs.back() / "arena.svg", format("<svg viewBox=\"0 0 9 9\"><rect width=\"{}\"/></svg>", i));
  }
  const std::string html = made_up_page(runs, folder_ / "merged");
  for (int i = 1; i <= 8; ++i) {
    const std::string name = format("run_{} (resolution {})", i, 32 + i);
    EXPECT_NE(html.find("data-label=\"Group\">" + name), std::string::npos) << name;
    const bool pictured = html.find(base64(format("picture {}", i))) != std::string::npos;
    const std::string note = html.substr(html.find("Not shown here: "), 300);
    EXPECT_EQ(pictured, note.substr(0, note.find("</p>")).find(name) == std::string::npos) << name;
    const bool arena = html.find("Memory arena of " + name) != std::string::npos;
    const std::string others = html.substr(html.find("Arenas not shown here: "), 300);
    EXPECT_EQ(arena, others.substr(0, others.find("</p>")).find(name) == std::string::npos) << name;
  }
}

TEST_F(Page, CarriesItsTablesAsLinksThatSaveThem) {
  const fs::path a = first(), b = second(), out = folder_ / "merged";
  const std::string html = made_up_page({a, b}, out);
  for (const char* name :
       {"dice.csv", "boxplot.csv", "comparison.csv", "epochs.csv", "validation.csv", "timing.csv"})
    EXPECT_EQ(downloaded(html, name), read_file(out / name)) << name;
  EXPECT_EQ(downloaded(html, "runs.csv").substr(0, 24), "Run,\"Resolution, voxels\"");
  EXPECT_FALSE(std::regex_search(html, std::regex("(src|href)=[\"'](https?:)?//|@import|url\\((?!#)")))
      << "something is loaded from elsewhere";
}

TEST_F(Page, ShowsTheWorstTheMedianAndTheBestCaseOfEveryGroup) {
  const fs::path a = first(), b = second(), out = folder_ / "merged";
  for (const fs::path& run : {a, b}) {
    fs::create_directories(run / "slices");
    for (int i = 1; i <= 4; ++i)
      write_file(run / "slices" / format("case_{}.png", i), format("{} {}", run.string(), i));
  }
  const std::string html = made_up_page({a, b}, out);
  for (const char* title : {"Worst case: case_1<", "Median case: case_2<", "Best case: case_4<"})
    EXPECT_NE(html.find(title), std::string::npos) << title;
  for (const int i : {1, 2, 4}) {
    for (const fs::path& run : {a, b})
      EXPECT_NE(html.find(base64(format("{} {}", run.string(), i))), std::string::npos);
  }
  EXPECT_EQ(html.find(base64(format("{} {}", a.string(), 3))), std::string::npos);
  EXPECT_NE(html.find("<b>second (resolution 96)</b>\n<span class=\"score\">whole tumor 0.800</span>"),
            std::string::npos);
}

TEST_F(Page, LeavesACaseThatARepeatMissedOutOfTheMeanDistance) {
  const fs::path run = first();
  std::vector<DiceRow> rows = rows_in<DiceRow>(run / "dice.csv");
  for (DiceRow& row : rows) row.truth_voxels = row.predicted_voxels = 10;
  for (int i = 0; i < 4; ++i) {
    DiceRow row = rows[static_cast<std::size_t>(i)];
    row.repeat = 2;
    if (i == 3) row.predicted_voxels = 0, row.hd95 = 373;
    rows.push_back(std::move(row));
  }
  write_csv(run / "dice.csv", csv_of(rows));
  EXPECT_TRUE(test::contains(made_up_page({run}, run), "data-label=\"Mean HD95, mm\">2.00<",
                             "data-label=\"Missed\">1 of 8<"));
}

TEST_F(Page, SaysWhichPostProcessingStepsAreTakenFromLabelledCases) {
  const fs::path run = first();
  const auto page = [&](const char* further) {
    write_file(run / "postprocessing.json",
               format(R"({{"found_on_cases": 12, "steps": [{{"region": "core", "remove": "small_whole",
                          "below_mm3": 500, "gain": 0{}}}]}})",
                      further));
    return made_up_page({run}, run);
  };
  EXPECT_TRUE(test::contains(page(", \"labelled_cases\": 36"), "data-label=\"Labelled cases\">36<"));
  EXPECT_FALSE(test::contains(page(""), "Labelled cases"));
}

TEST_F(Page, TakesInAnArenaAsAnImageInWhichNothingRuns) {
  const fs::path run = first();
  const std::string picture =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 9 9\"><script>alert(1)</script></svg>";
  write_file(run / "arena.svg", picture);
  const std::string html = made_up_page({run}, run);
  EXPECT_NE(html.find("src=\"data:image/svg+xml;base64," + base64(picture) + "\""), std::string::npos);
  EXPECT_EQ(html.find("<script"), std::string::npos);
}

TEST_F(Page, CarriesTheSlicesInItself) {
  const fs::path run = make_run("a", "sliced", "64");
  data::Image image;
  image.geometry.size = {6, 5, 4};
  for (int i = 0; i < 120; ++i) image.voxels.push_back(static_cast<float>(i));
  data::LabelMap labels;
  labels.geometry = image.geometry;
  labels.voxels.assign(120, 0);
  labels.voxels[70] = 1;
  fs::create_directories(run / "slices");
  const data::Regions regions{{"edema", {1}}};
  write_slices(run / "slices" / "case_1.png",
               {"case_1", "t1", image, labels, labels, regions, image.geometry});
  EXPECT_EQ(read_file(run / "slices" / "case_1.png").substr(1, 3), "PNG");
  const std::string html = made_up_page({run}, run);
  EXPECT_TRUE(test::contains(html, base64(read_file(run / "slices" / "case_1.png")), "Only case: case_1</h3>",
                             "t1; ground truth left, prediction right; axial slice 3 of 4",
                             "<span>ground truth</span><span>prediction</span>"));
}

TEST_F(Page, CollapsesLongTablesAndSecondarySectionsOnNarrowScreensOnly) {
  std::vector<fs::path> runs;
  for (int i = 1; i <= 5; ++i)
    runs.push_back(make_run(format("r{}", i), format("run_{}", i), std::to_string(32 + i)));
  const std::string html = made_up_page(runs, folder_ / "merged");
  EXPECT_TRUE(
      test::contains(html, "<section id=\"runs\"><details class=\"secondary\"><summary><h2>Runs</h2>",
                     "<section id=\"dice\"><h2>Dice</h2>",
                     "<details class=\"secondary\"><summary><span class=\"rows\">5 rows</span></summary>",
                     "@supports selector(::details-content)"));
}

TEST_F(Page, HasATableOfContentsWithLinksToEverySection) {
  const fs::path a = first(), b = second(), out = folder_ / "merged";
  const std::string html = made_up_page({a, b}, out);
  const std::string nav = html.substr(html.find("<nav"), html.find("</nav>") - html.find("<nav"));
  const std::vector<std::string> links = all_of(nav, "href=\"#([^\"]*)\"");
  for (const std::string& link : links) EXPECT_EQ(all_of(html, "( id=\"" + link + "\")").size(), 1u) << link;
  EXPECT_EQ(links.size(), 1 + all_of(html, "(<h2>)").size());
  EXPECT_GE(links.size(), 6u);
}

}  // namespace
}  // namespace voxswap::pipeline
