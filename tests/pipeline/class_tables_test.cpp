// The files that a run of a classification writes: tables, confusion matrix and page.
#include "pipeline/report/class_tables.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "pipeline/predict/inference.h"
#include "pipeline/report/page.h"

namespace voxswap::pipeline {
namespace {

std::vector<ClassRow> rows() {
  const auto row = [](std::int64_t repeat, const char* id, const char* truth, const char* predicted,
                      double cat) {
    return ClassRow{"run", repeat, "64x64", id, truth, predicted, {{"cat", cat}, {"dog", 1 - cat}}};
  };
  return {row(1, "a", "cat", "cat", 0.75), row(1, "b", "cat", "dog", 0.25), row(1, "c", "dog", "dog", 0.125),
          row(2, "a", "cat", "cat", 0.5)};
}

TEST(ClassTables, ComeBackAsTheyWere) {
  const std::vector<ClassRow> made = rows(), read = rows_of<ClassRow>(csv_of(made), "classes.csv");
  ASSERT_EQ(read.size(), made.size());
  for (std::size_t i = 0; i < made.size(); ++i) {
    EXPECT_EQ(read[i].case_id, made[i].case_id);
    EXPECT_EQ(read[i].truth, made[i].truth);
    EXPECT_EQ(read[i].predicted, made[i].predicted);
    EXPECT_EQ(read[i].probabilities, made[i].probabilities);
  }
  const std::vector<AccuracyRow> after = {{"run", 1, "64x64", 3, 1.5, 0.875}};
  const std::vector<AccuracyRow> back = rows_of<AccuracyRow>(csv_of(after), "accuracy.csv");
  ASSERT_EQ(back.size(), 1U);
  EXPECT_EQ(back[0].accuracy, 0.875);
  EXPECT_EQ(back[0].epoch, 3);
}

TEST(ClassTables, RefuseWhatNoRunWrites) {
  Csv csv = csv_of(rows());
  for (const char* wrong : {"1.5", "nan", "-0.1", "much"}) {
    csv.rows[1][csv.column("probability_cat", "")] = wrong;
    EXPECT_THROW(rows_of<ClassRow>(csv, "classes.csv"), Error) << wrong;
  }
  std::vector<ClassRow> other = rows();
  other[0].predicted = "bird";
  EXPECT_THROW(confusions(other), Error);
}

TEST(Confusions, CountEveryRunAndRepeatByItself) {
  const std::vector<Confusion> all = confusions(rows());
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].counts, (std::vector<std::vector<std::int64_t>>{{1, 1}, {0, 1}}));
  EXPECT_EQ(all[0].right(), 2);
  EXPECT_DOUBLE_EQ(all[0].accuracy(), 2.0 / 3);
  EXPECT_EQ(all[1].all(), 1);
  EXPECT_EQ(accuracy_text(rows()), "accuracy 0.667, 2 of 3 images; accuracy 1.000, 1 of 1 image");
  EXPECT_EQ(csv_of(confusion_rows(all)).rows[1],
            (std::vector<std::string>{"run", "1", "64x64", "cat", "dog", "1"}));
}

TEST(Confusions, StandOnThePageWithTheirAccuracy) {
  ReportParts parts;
  EXPECT_EQ(classes_section(parts), "");
  parts.classes = rows();
  const std::string page = classes_section(parts);
  for (const char* part : {"Classes", "0.667", "Predicted dog", "repeat 2"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
}

}  // namespace
}  // namespace voxswap::pipeline
