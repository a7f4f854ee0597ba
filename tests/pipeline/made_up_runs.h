// Folders of runs that nobody made, for tests of reports.
#pragma once

#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "pipeline/report/report.h"
#include "pipeline/report/tables.h"
#include "tests/folder.h"

namespace voxswap::pipeline {

// Every tag that is opened is closed, in order; enough of XML for pages of ours.
inline void expect_well_formed(const std::string& html) {
  const std::regex tag("<(/?)([a-zA-Z0-9]+)((?:[^>\"']|\"[^\"]*\"|'[^']*')*?)(/?)>");
  std::string text = html.substr(html.find("<html"));
  for (const auto& [begin, end] : {std::pair{"<style", "</style>"}, {"<script", "</script>"}})  // no markup
    for (std::size_t at; (at = text.find(begin)) != text.npos;)
      text.erase(at, text.find(end, at) + std::string(end).size() - at);
  std::vector<std::string> open;
  for (std::sregex_iterator at(text.begin(), text.end(), tag), none; at != none; ++at) {
    const std::string name = (*at)[2];
    if ((*at)[1].length() == 0 && (*at)[4].length() == 0) open.push_back(name);
    if ((*at)[1].length() == 0) continue;
    ASSERT_FALSE(open.empty()) << "</" << name << "> closes nothing";
    ASSERT_EQ(open.back(), name);
    open.pop_back();
  }
  EXPECT_TRUE(open.empty()) << open.back() << " stays open";
}

// "section:\n  key: value\n" as made-up runs write it; the program reads with experiments/.
inline SettingList made_up_settings(const fs::path& experiment) {
  SettingList settings;
  std::string section;
  for (const std::string& line : split(read_file(experiment), '\n')) {
    const std::size_t colon = line.find(':');
    if (colon == line.npos) continue;
    if (line[0] != ' ')
      section = line.substr(0, colon);
    else
      settings.push_back({section + "." + trim(line.substr(0, colon)), trim(line.substr(colon + 1)),
                          section == "ran_with" ? Decides::nothing : Decides::model});
  }
  return settings;
}

// report() of them.
template <class... More>
void report_made_up(const std::vector<fs::path>& runs, const fs::path& out, More&&... more) {
  report(runs, out, made_up_settings, std::forward<More>(more)...);
}

class MadeUpRuns : public test::InAFolder {
 protected:
  fs::path make_run(const std::string& folder, const std::string& name, const std::string& resolution) const {
    const fs::path run = folder_ / folder;
    fs::create_directories(run);
    std::vector<EpochRow> epochs;
    std::vector<DiceRow> dice;
    for (int i = 1; i <= 4; ++i) {
      EpochRow& epoch = epochs.emplace_back();
      epoch.run = name;
      epoch.resolution = resolution;
      epoch.epoch = i;
      epoch.seconds = 2 + 0.1 * i;
      epoch.train_loss = epoch.validation_loss = -0.2 * i;
      DiceRow& row = dice.emplace_back();
      row.run = name;
      row.resolution = resolution;
      row.evaluated_at = "native";
      row.case_id = format("case_{}", i);
      row.region = "whole_tumor";
      row.dice = 0.2 * i;
      row.hd95 = i;
    }
    TimingRow timing;
    timing.run = name;
    timing.resolution = resolution;
    timing.device = "cpu";
    timing.planner = "keep";
    write_csv(run / "epochs.csv", epochs_csv(epochs));
    write_csv(run / "validation.csv", validation_csv({{name, 1, resolution, 1, 60, "whole_tumor", 0.5},
                                                      {name, 1, resolution, 2, 120, "whole_tumor", 0.75}}));
    write_csv(run / "dice.csv", dice_csv(dice));
    write_csv(run / "timing.csv", timing_csv({timing}));
    write_file(run / "experiment.yaml", "training:\n  precision: bf16\n  note: a < b & c\n");
    return run;
  }
};

}  // namespace voxswap::pipeline
