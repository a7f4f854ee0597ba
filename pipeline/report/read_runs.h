// The folders of runs, read for a report.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "pipeline/report/class_tables.h"
#include "pipeline/report/run_groups.h"
#include "pipeline/report/setting.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

// The tables of a run, or of several behind each other.
struct RunTables {
  std::vector<EpochRow> epochs;
  std::vector<ValidationRow> validation;
  std::vector<DiceRow> dice;      // empty: not scored
  std::vector<ClassRow> classes;  // empty: not scored, or of voxels
  std::vector<AccuracyRow> accuracy;
  std::vector<CalibrationRow> calibration;  // empty: not scored, or by an earlier version
  std::vector<TimingRow> timing;            // empty: stopped before its end
  std::vector<MemoryRow> memory;
  std::vector<PhaseRow> phases;  // empty: not noted, by a run of version 0.1
};

// Calls `use` for each of them: with the name of its file, and the member.
template <class Use>
void each_table(const Use& use) {
  use("epochs.csv", &RunTables::epochs);
  use("validation.csv", &RunTables::validation);
  use("dice.csv", &RunTables::dice);
  use("classes.csv", &RunTables::classes);
  use("accuracy.csv", &RunTables::accuracy);
  use("calibration.csv", &RunTables::calibration);
  use("timing.csv", &RunTables::timing);
  use("memory.csv", &RunTables::memory);
  use("phases.csv", &RunTables::phases);
}

struct RunFolder : RunTables {
  fs::path path;
  std::string name;                                      // as in the run column of the merged tables
  std::string experiment;                                // experiment.yaml; empty: not there
  SettingList settings;                                  // in it
  std::size_t training_cases = 0, validation_cases = 0;  // of split.csv; 0: not there

  std::vector<RunInTable> in_tables() const;          // a name may come with several resolutions
  std::string state() const;                          // "finished", "stopped after epoch 3 of 20"
  std::string setting(const std::string& key) const;  // its value; empty where it is not known
};

RunFolder read_run(const fs::path& folder, const ReadSettings& read_settings);

struct RunFolders {
  std::vector<RunFolder> runs;
  std::vector<std::string> notes;  // what was left out, and why; which tables were changed by others
};

// Each folder once. Runs of one name in different folders get those folders' names behind theirs. Beside
// others, a run without a finished epoch is left out, and so is `out` itself where it holds a report and no
// run. Throws Exit::bad_data for a folder that is no run or whose tables are damaged, Exit::usage for none.
RunFolders read_runs(const std::vector<fs::path>& folders, const fs::path& out,
                     const ReadSettings& read_settings);

}  // namespace voxswap::pipeline
