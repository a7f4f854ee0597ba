// Tests reports of synthetic runs: all files exist, tables are merged, the page is well formed and escaped.
#include "pipeline/report/report.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "pipeline/report/html.h"
#include "pipeline/report/read_runs.h"
#include "tests/environment.h"
#include "tests/expect.h"
#include "tests/pipeline/made_up_runs.h"

namespace voxswap::pipeline {
namespace {

class Report : public MadeUpRuns {};

TEST_F(Report, OfTwoRunsHasEveryFileAndMergedTables) {
  const fs::path a = make_run("a", "first_<run>", "64"), b = second(), out = folder_ / "merged";
  report_made_up({a, b}, out);
  EXPECT_EQ(read_csv(out / "epochs.csv").rows.size(), 8u);
  EXPECT_EQ(read_csv(out / "validation.csv").rows.size(), 4u);
  EXPECT_EQ(read_csv(out / "timing.csv").rows.size(), 2u);
  const auto dice = rows_in<DiceRow>(out / "dice.csv");
  ASSERT_EQ(dice.size(), 8u);
  EXPECT_EQ(dice[0].run, "first_<run>");
  EXPECT_EQ(dice[7].run, "second");
  const Csv boxes = read_csv(out / "boxplot.csv");
  EXPECT_EQ(boxes.rows[0][0], "64");
  EXPECT_EQ(boxes.rows[0][boxes.column("n", "boxplot.csv")], "4");
  for (const char* name : {"boxplot", "epochs", "validation"}) {
    EXPECT_NE(read_file(out / format("{}.svg", name)).find("</svg>"), std::string::npos);
    EXPECT_EQ(read_file(out / format("{}.png", name)).substr(1, 3), "PNG");
  }
  EXPECT_NE(read_file(out / "boxplot.svg").find("whole tumor"), std::string::npos);
  const std::string html = read_file(out / "report.html");
  expect_well_formed(html);
  for (const char* part : {"first_&lt;run&gt;", "second", "whole tumor", "bf16", "a &lt; b &amp; c", "<svg",
                           "boxplot.csv", "Mean HD95, mm", "2.50</td>"}) {
    EXPECT_NE(html.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(html.find("first_<run>"), std::string::npos);
  EXPECT_EQ(html.find("src=\"http"), std::string::npos);
}

TEST_F(Report, InPlaceLeavesTheTablesOfTheRunAsTheyAre) {
  const fs::path run = make_run("a", "only", "64");
  write_file(run / "dice.csv",
             read_file(run / "dice.csv") + "only,1,64,native,case_5,whole_tumor,0.50,nan,nan,nan,1,1\n");
  const std::string before = read_file(run / "dice.csv");
  report_made_up({run}, run);
  EXPECT_EQ(read_file(run / "dice.csv"), before);
  EXPECT_TRUE(fs::exists(run / "boxplot.csv"));
  EXPECT_TRUE(fs::exists(run / "report.html"));
}

// 373.13 mm is a rule's penalty, not a distance: the mean is that of the four found regions, 1 to 4 mm.
TEST_F(Report, CountsMissedAndSpuriousRegionsInsteadOfAveragingTheirPenalty) {
  const fs::path run = make_run("a", "only", "64");
  write_file(run / "dice.csv", read_file(run / "dice.csv") +
                                   "only,1,64,native,case_5,whole_tumor,0,373.12866,0,1,10,0\n"
                                   "only,1,64,native,case_6,whole_tumor,0,373.12866,0,1,10,0\n"
                                   "only,1,64,native,case_7,whole_tumor,0,373.12866,nan,1,0,9\n");
  report_made_up({run}, run);
  EXPECT_TRUE(test::contains(read_file(run / "report.html"), "data-label=\"Mean HD95, mm\">2.50</td>",
                             "data-label=\"Missed\">2 of 7</td>", "data-label=\"Spurious\">1 of 7</td>"));
}

TEST_F(Report, DistinguishesRunsOfOneNameByTheirFolders) {
  const fs::path a = make_run("a", "same", "64"), b = make_run("b", "same", "64"), out = folder_ / "merged";
  report_made_up({a, b, a}, out);
  const auto dice = rows_in<DiceRow>(out / "dice.csv");
  ASSERT_EQ(dice.size(), 8u);
  EXPECT_EQ(dice[0].run, "a");
  EXPECT_EQ(dice[7].run, "b");
  const Csv boxes = read_csv(out / "boxplot.csv");
  EXPECT_EQ(boxes.rows[0][boxes.column("n", "boxplot.csv")], "4");  // their experiments are the same: repeats
}

TEST_F(Report, DistinguishesRunsWhoseFoldersAreNoNames) {
  const auto name_of = [](const RunFolders& read, std::size_t i) { return read.runs.at(i).name; };
  const fs::path a = make_run("a", "same", "64"), b = make_run("b", "same", "64"),
                 below = make_run("below/b", "same", "64"), taken = make_run("c", "a", "64");
  const RunFolders all = read_runs({a, b, below, taken}, folder_ / "out", made_up_settings);
  EXPECT_EQ(name_of(all, 0), "same (a)");
  EXPECT_EQ(name_of(all, 1), format("same ({})", fs::weakly_canonical(b).string()));
  EXPECT_EQ(name_of(all, 3), "a");
  const fs::path same = make_run("same", "same", "64");
  const RunFolders two = read_runs({same, b}, folder_ / "out", made_up_settings);
  EXPECT_EQ(name_of(two, 0), "same");
  EXPECT_EQ(name_of(two, 1), "b");
}

TEST_F(Report, OfARunThatOnlyTrainedHasNoBoxes) {
  const fs::path run = make_run("a", "trained", "64");
  fs::remove(run / "dice.csv");
  report_made_up({run}, run);
  EXPECT_FALSE(fs::exists(run / "boxplot.csv"));
  EXPECT_TRUE(fs::exists(run / "epochs.svg"));
  expect_well_formed(read_file(run / "report.html"));
}

TEST_F(Report, WithoutGnuplotHasTheTablesAndAPageThatSaysWhatToInstall) {
  const fs::path run = make_run("a", "plotless", "64"), out = folder_ / "out";
  const test::Environment nothing("PATH", folder_.string());
  EXPECT_NO_THROW(report_made_up({run}, out));
  for (const char* name : {"epochs.csv", "dice.csv", "timing.csv", "boxplot.csv"}) {
    EXPECT_TRUE(fs::exists(out / name)) << name;
  }
  EXPECT_FALSE(fs::exists(out / "boxplot.svg"));
  EXPECT_NE(read_file(out / "report.html").find("Install gnuplot-nox"), std::string::npos);
}

TEST_F(Report, OfTwoResolutionsComparesThem) {
  const fs::path a = first(), b = second(), out = folder_ / "merged";
  report_made_up({b, a}, out);
  const Csv csv = read_csv(out / "comparison.csv");
  ASSERT_EQ(csv.rows.size(), 2u);  // dice and hd95 of one region
  EXPECT_EQ(csv.rows[0][csv.column("resolution_a", "")], "64");
  EXPECT_EQ(csv.rows[0][csv.column("mean_difference", "")], "0");
  EXPECT_EQ(csv.rows[0][csv.column("p", "")], "nan");  // no case differs
  EXPECT_NE(read_file(out / "report.html").find("<h2>Differences</h2>"), std::string::npos);
}

TEST_F(Report, OfRunsWithOtherRegionsAndCasesComparesWhatTheyShare) {
  const fs::path a = first(), b = second(), out = folder_ / "merged";
  std::string dice = read_file(b / "dice.csv");
  dice.replace(dice.find("case_2"), 6, "case_9");
  write_file(b / "dice.csv", dice + "second,1,96,native,case_1,other_region,0.50,nan,nan,nan,1,1\n");
  report_made_up({a, b}, out);
  const Csv csv = read_csv(out / "comparison.csv");
  ASSERT_EQ(csv.rows.size(), 2u);
  EXPECT_EQ(csv.rows[0][csv.column("region", "")], "whole_tumor");
  EXPECT_EQ(csv.rows[0][csv.column("n", "")], "3");
  EXPECT_EQ(csv.rows[0][csv.column("unpaired", "")], "2");
  const std::string html = read_file(out / "report.html");
  expect_well_formed(html);
  EXPECT_TRUE(test::contains(html, "Comparisons exclude up to 2 cases", "other region"));
}

// Writes how many voxels of the region the ground truths of cases 1 to 3 have; case 4 has none.
void write_truths(const fs::path& run, std::int64_t voxels) {
  std::vector<DiceRow> rows = rows_in<DiceRow>(run / "dice.csv");
  for (DiceRow& row : rows) row.truth_voxels = row.case_id == "case_4" ? 0 : voxels;
  write_csv(run / "dice.csv", csv_of(rows));
}

TEST_F(Report, DoesNotPairCasesThatHaveTheSameNameInOtherData) {
  const fs::path a = make_run("a", "first", "64"), b = make_run("b", "second", "64"), out = folder_ / "out";
  write_file(a / "experiment.yaml", "data:\n  root: /a\n");
  write_file(b / "experiment.yaml", "data:\n  root: /b\n");
  write_truths(a, 94);
  write_truths(b, 94);
  report_made_up({a, b}, out);
  EXPECT_TRUE(fs::exists(out / "comparison.csv"));
  write_truths(b, 249);
  report_made_up({a, b}, out);
  EXPECT_FALSE(fs::exists(out / "comparison.csv"));
  EXPECT_TRUE(test::contains(read_file(out / "report.html"),
                             "3 cases with the same name but different ground truths in these runs",
                             "no common cases"));
}

TEST_F(Report, DoesNotTakeScoresOfDataThatWasReplacedForRepeats) {
  const fs::path a = make_run("a", "first", "64"), b = make_run("b", "second", "64"), out = folder_ / "out";
  write_truths(a, 94);
  write_truths(b, 249);
  report_made_up({a, b}, out);
  const Csv csv = read_csv(out / "boxplot.csv");
  EXPECT_EQ(csv.rows[0][csv.column("n", "")], "7");
}

TEST_F(Report, OfARunThatOnlyTrainedBesideAScoredOneHasTheBoxesOfThat) {
  const fs::path a = make_run("a", "scored", "64"), b = make_run("b", "trained", "96"),
                 out = folder_ / "merged";
  fs::remove(b / "dice.csv");
  report_made_up({a, b}, out);
  EXPECT_EQ(read_csv(out / "dice.csv").rows.size(), 4u);
  EXPECT_FALSE(fs::exists(out / "comparison.csv"));
  EXPECT_NE(read_file(out / "report.html").find("trained, not scored"), std::string::npos);
}

TEST_F(Report, OfAnUnfinishedRunSaysHowFarItGot) {
  const fs::path run = make_run("a", "cut_off", "64");
  fs::remove(run / "dice.csv");
  fs::remove(run / "timing.csv");
  write_file(run / "experiment.yaml", "training:\n  epochs: 9\n");
  const std::string html = made_up_page({run}, run);
  EXPECT_NE(html.find("cut_off stopped after epoch 4 of 9"), std::string::npos);
  EXPECT_FALSE(fs::exists(run / "timing.csv"));
}

TEST_F(Report, LeavesOutARunThatHasNoEpochYetAndSaysSo) {
  const fs::path a = first(), b = folder_ / "begun", out = folder_ / "merged";
  fs::create_directories(b);
  write_file(b / "experiment.yaml", "name: begun\n");
  report_made_up({a, b}, out);
  EXPECT_NE(read_file(out / "report.html").find("begun: skipped: no epoch is finished yet"),
            std::string::npos);
  test::expect_failure([&] { report_made_up({b}, b); }, Exit::bad_data, {"--resume"});
}

TEST_F(Report, DoesNotTakeItsOwnFolderForARun) {
  const fs::path a = first(), b = second(), out = folder_ / "merged";
  report_made_up({a, b}, out);
  report_made_up({a, b, out}, out);  // as `voxswap report runs/* --out runs/merged`, twice
  EXPECT_EQ(read_csv(out / "dice.csv").rows.size(), 8u);
}

TEST_F(Report, OfSeveralRunsOverwritesTheTablesOfNone) {
  const fs::path a = first(), b = second();
  const std::string before = read_file(a / "dice.csv");
  test::expect_failure([&] { report_made_up({a, b}, a); }, Exit::usage);
  EXPECT_EQ(read_file(a / "dice.csv"), before);
}

// A comparison that stayed would be taken for one of these runs.
TEST_F(Report, RemovesWhatAnEarlierOneWroteButNothingThatWasEdited) {
  const fs::path out = folder_ / "out";
  report_made_up({first(), second()}, out);
  ASSERT_TRUE(fs::exists(out / "comparison.csv"));
  ASSERT_TRUE(fs::exists(out / "dice.svg"));
  report_made_up({first()}, out);
  EXPECT_FALSE(fs::exists(out / "comparison.csv"));
  EXPECT_FALSE(fs::exists(out / "dice.svg"));
  EXPECT_TRUE(fs::exists(out / "boxplot.csv"));
  report_made_up({first(), second()}, out);
  write_file(out / "comparison.csv", "edited");
  write_file(out / "folds.csv", "the user's");
  report_made_up({first()}, out);
  EXPECT_EQ(read_file(out / "comparison.csv"), "edited");
  EXPECT_EQ(read_file(out / "folds.csv"), "the user's");
}

TEST_F(Report, WhereNothingCanBeWrittenSaysSo) {
  const fs::path run = first();
  write_file(folder_ / "file", "");
  test::expect_failure([&] { report_made_up({run}, folder_ / "file" / "out"); }, Exit::failed,
                       {"this folder cannot be created"});
}

TEST_F(Report, OfDamagedTablesNamesTheFile) {
  const fs::path run = first();
  write_file(run / "dice.csv", "run,repeat\nfirst,1\n");
  test::expect_failure([&] { report_made_up({run}, folder_ / "out"); }, Exit::bad_data, {"a/dice.csv"});
}

TEST_F(Report, OfAFolderThatIsNoRunIsBadData) {
  for (const fs::path& folder : {folder_, folder_ / "nowhere"}) {
    test::expect_failure([&] { report_made_up({folder}, folder_ / "out"); }, Exit::bad_data);
  }
  EXPECT_FALSE(fs::exists(folder_ / "out"));
}

TEST(Base64, AgreesWithTheVectorsOfRfc4648) {
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
}

}  // namespace
}  // namespace voxswap::pipeline
