// Reads the folders of runs for a report.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "pipeline/report/class_tables.h"
#include "pipeline/report/reliability.h"
#include "pipeline/report/run_groups.h"
#include "pipeline/report/setting.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

// The tables of a run, or the concatenated tables of several.
struct RunTables {
  std::vector<EpochRow> epochs;
  std::vector<ValidationRow> validation;
  std::vector<DiceRow> dice;      // empty: not scored
  std::vector<ClassRow> classes;  // empty: not scored, or a segmentation run
  std::vector<AccuracyRow> accuracy;
  std::vector<CalibrationRow> calibration;  // empty: not scored, or written by an earlier version
  std::vector<ReliabilityRow> reliability;  // likewise
  std::vector<TimingRow> timing;            // empty: stopped before the end
  std::vector<MemoryRow> memory;
  std::vector<PhaseRow> phases;  // empty: written by version 0.1
};

// Calls `use` for each table with its file name and member.
template <class Use>
void each_table(const Use& use) {
  use("epochs.csv", &RunTables::epochs);
  use("validation.csv", &RunTables::validation);
  use("dice.csv", &RunTables::dice);
  use("classes.csv", &RunTables::classes);
  use("accuracy.csv", &RunTables::accuracy);
  use("calibration.csv", &RunTables::calibration);
  use("reliability.csv", &RunTables::reliability);
  use("timing.csv", &RunTables::timing);
  use("memory.csv", &RunTables::memory);
  use("phases.csv", &RunTables::phases);
}

struct RunFolder : RunTables {
  fs::path path;
  std::string name;                                      // as in the run column of the merged tables
  std::string experiment;                                // experiment.yaml; empty: missing
  SettingList settings;                                  // of experiment.yaml
  std::size_t training_cases = 0, validation_cases = 0;  // in split.csv; 0: missing
  std::string stopped;                                   // by its sweep: stopped_text(); empty: not stopped

  std::vector<RunInTable> in_tables() const;                        // a name may have several resolutions
  std::size_t group_in(const std::vector<RunGroup>& groups) const;  // of its first rows
  std::string state() const;                          // "finished", "stopped after epoch 3 of 20"
  std::string setting(const std::string& key) const;  // empty if unknown
};

// The message in the outcome.json of a cell that its sweep stopped: "stopped at epoch 6 (halving)".
std::string stopped_text(std::int64_t epoch);
std::string stop_of(const fs::path& run);  // that message; empty for other runs

RunFolder read_run(const fs::path& folder, const ReadSettings& read_settings);

struct RunFolders {
  std::vector<RunFolder> runs;
  std::vector<std::string> notes;  // skipped runs with reasons; modified tables
};

// Reads each folder once. Runs with the same name are named by their folders. If there are several
// folders, skips runs without a finished epoch, and `out` if it contains a report but no run. Throws
// Exit::bad_data for a folder that is not a run or has damaged tables, Exit::usage if nothing remains.
RunFolders read_runs(const std::vector<fs::path>& folders, const fs::path& out,
                     const ReadSettings& read_settings);

}  // namespace voxswap::pipeline
