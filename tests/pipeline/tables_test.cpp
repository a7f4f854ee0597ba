// Tests the bytes of the tables, because external scripts read them.
#include "pipeline/report/tables.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/error.h"
#include "pipeline/report/comparison.h"
#include "tests/expect.h"
#include "tests/pipeline/dice_rows.h"

namespace voxswap::pipeline {
namespace {

DiceRow dice_row(std::int64_t repeat, const std::string& id, double value,
                 const std::string& resolution = "64") {
  DiceRow row = score("a", resolution, id, value, "whole_tumor", repeat);
  row.hd95 = row.sensitivity = row.specificity = std::nan("");
  return row;
}

TEST(Tables, EpochsAreWrittenInTheColumnsOfTheContractWithSecondsToTheMicrosecond) {
  EpochRow row;
  row.run = "quick, start";
  row.repeat = 2;
  row.resolution = "48x64x48";
  row.epoch = 3;
  row.seconds = 1.23456789;
  row.train_loss = -0.1;
  row.validation_loss = std::nan("");
  row.learning_rate = 5e-4;
  row.megavoxels_per_second = 2.5;
  row.wait_seconds = -1e-9;
  row.device_peak_bytes = 3000000000;
  row.validation_seconds = 0.25;
  row.device_busy = 0.5;
  EXPECT_EQ(
      csv_text(csv_of<EpochRow>({row})),
      "run,repeat,resolution,epoch,seconds,train_loss,validation_loss,learning_rate,megavoxels_per_second,"
      "wait_seconds,stall_seconds,swapped_out_bytes,swapped_in_bytes,recomputed_nodes,device_peak_bytes,"
      "host_peak_bytes,validation_seconds,device_busy\n"
      "\"quick, start\",2,48x64x48,3,1.234568,-0.1,nan,0.0005,2.5,0,0,0,0,0,3000000000,0,0.25,0.5\n");
}

TEST(Tables, ValidationIsWrittenInItsColumnsAndReadBack) {
  const ValidationRow row{"a", 2, "64", 3, 12.5, "whole_tumor", 0.75};
  const Csv csv = csv_of<ValidationRow>({row});
  EXPECT_EQ(csv_text(csv),
            "run,repeat,resolution,epoch,trained_seconds,region,dice\na,2,64,3,12.5,whole_tumor,0.75\n");
  EXPECT_EQ(csv_text(csv_of(rows_of<ValidationRow>(csv, "validation.csv"))), csv_text(csv));
}

TEST(Tables, DiceIsWrittenInTheColumnsOfTheContract) {
  DiceRow row = dice_row(1, "case_1", 0.25);
  row.truth_voxels = 12;
  row.predicted_voxels = 7;
  EXPECT_EQ(csv_text(csv_of<DiceRow>({row})),
            "run,repeat,resolution,evaluated_at,case,region,dice,hd95,sensitivity,specificity,truth_voxels,"
            "predicted_voxels\na,1,64,native,case_1,whole_tumor,0.25,nan,nan,nan,12,7\n");
}

TEST(Tables, TimingIsWrittenInTheColumnsOfTheContract) {
  TimingRow row;
  row.run = std::string("a");
  row.resolution = "64";
  row.device = "cpu";
  row.planner = "keep";
  row.step_seconds_median = 0.5;
  row.device_peak_bytes = 7;
  EXPECT_EQ(
      csv_text(csv_of<TimingRow>({row})),
      "run,resolution,device,planner,budget_bytes,link_to_host_gbps,link_to_device_gbps,epoch_seconds_mean,"
      "step_seconds_median,predicted_step_seconds,bound_step_seconds,overhead,utilization,to_host_gbps,"
      "to_device_gbps,swapped_out_bytes,swapped_in_bytes,device_peak_bytes\n"
      "a,64,cpu,keep,0,0,0,0,0.5,0,0,0,0,0,0,0,0,7\n");
}

TEST(Tables, BoxesAreWrittenWithTheirOutliersJoinedBySemicolons) {
  BoxRow row;
  row.resolution = "64";
  row.evaluated_at = "native";
  row.region = "anterior";
  row.metric = "dice";
  row.statistics = {4, 1, 0.5, 0.25, 0, 0.125, 0.5, 0.75, 1, 0.0625, 0.875, {0, 1}};
  EXPECT_EQ(csv_text(csv_of<BoxRow>({row})),
            "resolution,evaluated_at,region,metric,n,nan,mean,sd,minimum,q1,median,q3,maximum,whisker_low,"
            "whisker_high,outliers\n"
            "64,native,anterior,dice,4,1,0.5,0.25,0,0.125,0.5,0.75,1,0.0625,0.875,0;1\n");
}

TEST(Tables, WhatWasWrittenReadsBackTheSame) {
  const Csv csv = csv_of<DiceRow>({dice_row(1, "a,\"b\"", 1.0 / 3), dice_row(2, "c", std::nan(""))});
  EXPECT_EQ(csv_text(csv_of(rows_of<DiceRow>(parse_csv(csv_text(csv), "dice.csv"), "dice.csv"))),
            csv_text(csv));
  EXPECT_EQ(rows_of<DiceRow>(csv, "dice.csv")[0].dice, 1.0 / 3);
}

TEST(Tables, MetricsBeyondTheContractAreColumnsToTheRightWhereAnyRowHasThem) {
  DiceRow first = dice_row(1, "a", 1), second = dice_row(1, "b", 0.5);
  set_metric(first, "lesion_wise_dice", 0.75);
  set_metric(second, "precision", 0.5);
  const Csv csv = csv_of<DiceRow>({first, second});
  ASSERT_EQ(csv.header.size(), 14u);
  EXPECT_EQ(csv.header[11], "predicted_voxels");
  EXPECT_EQ(csv.header[12], "precision");  // in the order of the table of metrics
  EXPECT_EQ(csv.header[13], "lesion_wise_dice");
  EXPECT_EQ(csv.rows[0][12], "nan");
  EXPECT_EQ(csv.rows[1][12], "0.5");
  EXPECT_EQ(csv_text(csv_of(rows_of<DiceRow>(csv, "dice.csv"))), csv_text(csv));
}

TEST(Tables, FieldsThatAreNoNumbersAreRefusedWithTheirPlace) {
  Csv csv = csv_of<DiceRow>({dice_row(1, "a", 1)});
  csv.rows[0][6] = "0.9x";
  EXPECT_EQ(test::message_of([&] { rows_of<DiceRow>(csv, "runs/a/dice.csv"); }, Exit::bad_data),
            "runs/a/dice.csv: record 1: column 'dice' should be a number, found '0.9x'");
  csv.header[6] = "Dice";
  EXPECT_THROW(rows_of<DiceRow>(csv, "dice.csv"), Error);
}

// One column of each table, with a value that no run writes.
TEST(Tables, FieldsThatNoRunWritesAreRefused) {
  struct Bad {
    Csv csv;
    const char *column, *field, *says;
    std::function<void(const Csv&)> read;
  };
  const auto dice = [](const Csv& csv) { rows_of<DiceRow>(csv, "t.csv"); };
  const auto epochs = [](const Csv& csv) { rows_of<EpochRow>(csv, "t.csv"); };
  const auto timing = [](const Csv& csv) { rows_of<TimingRow>(csv, "t.csv"); };
  const auto validation = [](const Csv& csv) { rows_of<ValidationRow>(csv, "t.csv"); };
  DiceRow further = dice_row(1, "a", 1);
  for (const char* metric : {"precision", "volume_difference", "average_surface_distance"})
    set_metric(further, metric, 0.5);
  const Csv d = csv_of<DiceRow>({further}), e = csv_of<EpochRow>({EpochRow{}}),
            t = csv_of<TimingRow>({TimingRow{}}), v = csv_of<ValidationRow>({ValidationRow{}});
  const char* share = "a number from 0 to 1, or nan";
  const std::vector<Bad> table = {
      {d, "dice", "9.5", share, dice},
      {d, "dice", "-3", share, dice},
      {d, "dice", "inf", share, dice},
      {d, "dice", "", "a number", dice},
      {d, "dice", "0.", "", dice},
      {d, "dice", "1e", "a number", dice},
      {d, "hd95", "-0.5", "a number of at least 0", dice},
      {d, "hd95", "inf", "a finite number or nan", dice},
      {d, "sensitivity", "1.0001", share, dice},
      {d, "precision", "2", share, dice},
      {d, "volume_difference", "-inf", "a finite number or nan", dice},
      {d, "average_surface_distance", "-1", "a number of at least 0", dice},
      {d, "truth_voxels", "-1", "a whole number of at least 0", dice},
      {d, "truth_voxels", "1.5", "a number", dice},
      {d, "repeat", "0", "a whole number of at least 1", dice},
      {e, "epoch", "0", "a whole number of at least 1", epochs},
      {e, "epoch", "99999999999999999999", "a number", epochs},
      {e, "seconds", "-1", "a number of at least 0", epochs},
      {e, "learning_rate", "-0.1", "a number of at least 0", epochs},
      {v, "dice", "1.5", share, validation},
      {v, "trained_seconds", "-1", "a number of at least 0", validation},
      {t, "utilization", "-1", "a number of at least 0", timing},
      {t, "device_peak_bytes", "-1", "a whole number of at least 0", timing},
  };
  for (const Bad& bad : table) {
    Csv csv = bad.csv;
    csv.rows[0][csv.column(bad.column, "")] = bad.field;
    const std::string what = std::string(bad.column) + " " + bad.field;
    const std::string message = test::error_of([&] { bad.read(csv); }, Exit::bad_data);
    const std::string expected = *bad.says == '\0'
                                     ? ""
                                     : format("t.csv: record 1: column '{}' should be {}, found '{}'",
                                              bad.column, bad.says, bad.field);
    EXPECT_EQ(message, expected) << what;
  }
}

TEST(Boxes, AreOverTheMeansOfARunsRepeatsPerCase) {
  const auto boxes = box_rows({dice_row(1, "x", 0.2), dice_row(2, "x", 0.4), dice_row(1, "y", 0.9),
                               dice_row(2, "y", std::nan("")), dice_row(1, "z", std::nan(""))});
  ASSERT_EQ(boxes.size(), 3u);  // dice, sensitivity, specificity; hd95 is absent
  const metrics::BoxStatistics& dice = boxes[0].statistics;
  EXPECT_EQ(boxes[0].metric, "dice");
  EXPECT_EQ(dice.n, 1u);
  EXPECT_EQ(dice.nan, 2u);  // a repeat of y has no score
  EXPECT_NEAR(dice.mean, 0.3, 1e-12);
}

TEST(Boxes, CountTheCasesOfDifferentRunsByThemselves) {
  DiceRow other = dice_row(1, "x", 0.4);
  other.run = std::string("b");  // GCC 12 warns wrongly about assigning the literal
  EXPECT_EQ(box_rows({dice_row(1, "x", 0.2), other})[0].statistics.n, 2u);
}

TEST(Boxes, ComeFromCoarseToFineAndHaveSurfaceDistancesWhereThereAreAny) {
  DiceRow fine = dice_row(1, "x", 0.4, "128"), box = dice_row(1, "x", 0.4, "96x96x128");
  fine.hd95 = 3;
  const auto boxes = box_rows({fine, box, dice_row(1, "x", 0.2)});
  ASSERT_EQ(boxes.size(), 12u);
  EXPECT_EQ(boxes[0].resolution, "64");
  EXPECT_EQ(boxes[4].resolution, "96x96x128");
  EXPECT_EQ(boxes[8].resolution, "128");
  EXPECT_EQ(boxes[11].metric, "hd95");
  EXPECT_EQ(boxes[11].statistics.mean, 3);
}

TEST(Resolution, IsOneNumberForACubeAndThreeForABox) {
  EXPECT_EQ(resolution_text({128, 128, 128}), "128");
  EXPECT_EQ(resolution_text({48, 64, 48}), "48x64x48");
  EXPECT_EQ(resolution_voxels("4"), 64);
  EXPECT_EQ(resolution_voxels("2x3x4"), 24);
}

}  // namespace
}  // namespace voxswap::pipeline
