// Tests figures for a paper: their size and fonts as poppler reads them, and that methods are written.
#include <gtest/gtest.h>

#include <cstdio>
#include <regex>

#include "pipeline/report/report.h"
#include "tests/pipeline/made_up_runs.h"

namespace voxswap::pipeline {
namespace {

class PaperFigures : public MadeUpRuns {
 protected:
  // Output of a program of poppler-utils.
  static std::string output_of(const std::string& command) {
    std::string text;
    FILE* pipe = ::popen((command + " 2>/dev/null").c_str(), "r");
    for (int c = 0; pipe && (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
    if (pipe) ::pclose(pipe);
    return text;
  }
  fs::path write_figures(double millimetres) const {
    const fs::path a = make_run("a", "first", "64"), b = make_run("b", "second", "96"),
                   figures = folder_ / "figures";
    report_made_up({a, b}, folder_ / "merged", ReportFrame(), Outputs(true), ScoreEnsembles(),
                   Paper{figures, millimetres,
                         [](const std::vector<RunFolder>& runs) { return format("{} runs", runs.size()); }});
    return figures;
  }
};

TEST_F(PaperFigures, HaveTheWidthOfTheColumnAndEmbeddedFonts) {
  if (output_of("command -v pdfinfo").empty()) GTEST_SKIP() << "poppler-utils is not installed";
  const fs::path figures = write_figures(89);
  std::size_t pdfs = 0;
  for (const auto& entry : fs::directory_iterator(figures)) {
    const std::string file = entry.path().string();
    if (!file.ends_with(".pdf")) continue;
    ++pdfs;
    const std::string info = output_of("pdfinfo '" + file + "'"),
                      fonts = output_of("pdffonts '" + file + "'");
    std::smatch size;
    ASSERT_TRUE(std::regex_search(info, size, std::regex("Page size: +([\\d.]+) x"))) << file;
    EXPECT_NEAR(std::stod(size[1]) / 72 * 25.4, 89, 0.4) << file;  // cairo rounds to whole points
    const std::vector<std::string> lines = split(trim(fonts), '\n');
    ASSERT_GT(lines.size(), 2u) << file;
    const std::size_t column = lines[0].find("emb");
    for (std::size_t i = 2; i < lines.size(); ++i) EXPECT_EQ(lines[i].substr(column, 3), "yes") << lines[i];
    const std::string svg = read_file(figures / (entry.path().stem().string() + ".svg"));
    EXPECT_TRUE(test::Xml(svg).good()) << file;
    EXPECT_EQ(svg.find("<text"), std::string::npos) << file;  // outlines
  }
  EXPECT_GE(pdfs, 4u);
  EXPECT_EQ(read_file(figures / "methods.md"), "2 runs");
}

// Letters of a layout are 13 pixels high, and a plot that fits the column is laid out for 7 points.
TEST_F(PaperFigures, HaveLettersOfSevenPointsWhereThePlotFits) {
  if (output_of("command -v pdftotext").empty()) GTEST_SKIP() << "poppler-utils is not installed";
  const fs::path figures = write_figures(183);
  const std::string text = output_of("pdftotext -bbox '" + (figures / "dice.pdf").string() + "' -");
  std::smatch word;
  ASSERT_TRUE(std::regex_search(
      text, word, std::regex("yMin=\"([\\d.]+)\" xMax=\"[\\d.]+\" yMax=\"([\\d.]+)\">per</word>")))
      << text;
  const double height =
      std::stod(word[2]) - std::stod(word[1]);  // ascent and descent: 1.1 to 1.25 of the size
  EXPECT_GT(height, 7 * 1.05);
  EXPECT_LT(height, 7 * 1.3);
}

}  // namespace
}  // namespace voxswap::pipeline
