// Tests that pictures of gnuplot are complete or refused: gnuplot itself does not notice truncated output.
#include "pipeline/report/gnuplot.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file.h"
#include "pipeline/report/plots.h"
#include "pipeline/report/report.h"
#include "pipeline/report/tables.h"
#include "tests/environment.h"
#include "tests/expect.h"
#include "tests/folder.h"

namespace voxswap::pipeline {
namespace {

// A script named gnuplot, first in PATH.
class FakeGnuplot : public test::InAFolder {
 protected:
  FakeGnuplot() { fs::create_directories(folder_ / "bin"); }
  void pretend(const std::string& commands) const {
    const fs::path program = folder_ / "bin" / "gnuplot";
    write_file(program, "#!/bin/sh\n" + commands + "\n");
    fs::permissions(program, fs::perms::owner_all);
  }
  static std::string message() {
    return test::error_of([] { gnuplot("plot x\n"); }, Exit::failed);
  }

 private:
  const test::Environment first_{"PATH", (folder_ / "bin").string() + ":" + std::getenv("PATH")};
};

TEST_F(FakeGnuplot, ThatIsCutOffOrFailsOrIsKilledGivesNoPicture) {
  pretend("printf '<svg><g></g></svg>\\n'");
  EXPECT_EQ(message(), "");
  pretend("printf '<svg><g>'");
  EXPECT_EQ(message(), "gnuplot drew no complete picture: its output ends after 8 bytes");
  pretend("true");
  EXPECT_EQ(message(), "gnuplot drew no complete picture: its output ends after 0 bytes");
  pretend("printf '<svg></svg>'; echo 'line 3: no' >&2; exit 7");
  EXPECT_EQ(message(), "gnuplot drew no complete picture: it ended with exit status 7: line 3: no");
  pretend("printf '<svg></svg>'; kill -9 $$");
  EXPECT_EQ(message(), "gnuplot drew no complete picture: it was ended by signal 9");
}

TEST_F(FakeGnuplot, ThatIsCutOffLeavesNoPlotBehindNorOneOfAnEarlierReport) {
  const fs::path run = folder_ / "run";
  fs::create_directories(run);
  EpochRow epoch;
  epoch.run = "a";
  epoch.resolution = "64";
  write_csv(run / "epochs.csv", csv_of<EpochRow>({epoch}));
  write_file(run / "experiment.yaml", "name: a\n");
  write_file(run / "epochs.svg", "<svg>of an earlier report</svg>");
  write_file(run / "epochs.png", "of an earlier report");
  pretend("printf '<svg><g>half a plot'");
  test::expect_failure([&] { report({run}, run, [](const fs::path&) { return SettingList{}; }); },
                       Exit::failed);
  EXPECT_FALSE(fs::exists(run / "epochs.svg"));
  EXPECT_FALSE(fs::exists(run / "epochs.png"));
  const std::string page = read_file(run / "report.html");
  EXPECT_FALSE(test::contains(page, "half a plot"));
  EXPECT_TRUE(test::contains(page, "gnuplot drew no complete picture"));
}

TEST(WholePicture, EndsAsItsFormatSays) {
  const std::string png = draw("plot [0:1][0:1] x notitle\n", 60, 40, "x").png;
  EXPECT_TRUE(is_whole_picture(png));
  for (const std::size_t bytes : {std::size_t{8}, png.size() / 2, png.size() - 12, png.size() - 1})
    EXPECT_FALSE(is_whole_picture(std::string_view(png).substr(0, bytes))) << bytes;
  EXPECT_FALSE(is_whole_picture(""));
  EXPECT_FALSE(is_whole_picture("</svg>"));
}

TEST(GnuplotText, IsALiteralThatShowsTheTextAsItIs) {
  EXPECT_EQ(gnuplot_text("a\\b\"c`d"), "\"a\\\\b\\\"c\\140d\"");
  EXPECT_EQ(gnuplot_text("a\nb\tc\x1b"), "\"a\\nb c \"");
  EXPECT_EQ(gnuplot_text("caf\xE9"), "\"caf\uFFFD\"");
  EXPECT_EQ(gnuplot_tic("50%"), "\"50%%\"");
}

}  // namespace
}  // namespace voxswap::pipeline
