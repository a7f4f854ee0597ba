// The tables that a run writes, as structs and as CSV. Column names are a contract with scripts outside.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/csv.h"
#include "pipeline/report/table_rows.h"

namespace voxswap::pipeline {

inline constexpr const char* warnings_file = "warnings.csv";  // what `voxswap check` says of the data
// What helped on validation cases, and prediction does (predict/postprocessing.h): of a run, or of a sweep.
inline constexpr const char* postprocessing_file = "postprocessing.json";

Csv epochs_csv(const std::vector<EpochRow>& rows);
Csv validation_csv(const std::vector<ValidationRow>& rows);
Csv dice_csv(const std::vector<DiceRow>& rows);
Csv boxplot_csv(const std::vector<BoxRow>& rows);
Csv timing_csv(const std::vector<TimingRow>& rows);
Csv memory_csv(const std::vector<MemoryRow>& rows);
Csv phases_csv(const std::vector<PhaseRow>& rows);

// The way back; throws Exit::bad_data naming `where` for a missing column, a field that is no number, or one
// that no run writes there: a Dice of 9.5, an epoch 0.
std::vector<EpochRow> epoch_rows(const Csv& csv, const std::string& where);
std::vector<ValidationRow> validation_rows(const Csv& csv, const std::string& where);
std::vector<DiceRow> dice_rows(const Csv& csv, const std::string& where);
std::vector<TimingRow> timing_rows(const Csv& csv, const std::string& where);
std::vector<MemoryRow> memory_rows(const Csv& csv, const std::string& where);
std::vector<PhaseRow> phase_rows(const Csv& csv, const std::string& where);

double metric_value(const DiceRow& row, const std::string& metric);
void set_metric(DiceRow& row, const std::string& metric, double value);

std::string resolution_text(const std::array<std::int64_t, 3>& size);  // "128", "48x64x48", of images "64x48"
double resolution_voxels(const std::string& resolution);  // the way back; infinity for other texts

}  // namespace voxswap::pipeline
