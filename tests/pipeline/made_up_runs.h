// Writes folders of synthetic runs for tests of reports.
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
#include "tests/pipeline/dice_rows.h"
#include "tests/xml.h"

namespace voxswap::pipeline {

inline std::string unbase64(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0, count = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<unsigned>(digits.find(c));
    if ((count += 6) >= 8) bytes += static_cast<char>(bits >> (count -= 8) & 255);
  }
  return bytes;
}

inline void expect_well_formed(const std::string& html) {
  EXPECT_TRUE(test::Xml(html).good());
}

// Parses the "section:\n  key: value\n" that synthetic runs contain; the program itself uses experiments/.
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

// Calls report() with made_up_settings.
template <class... More>
void report_made_up(const std::vector<fs::path>& runs, const fs::path& out, More&&... more) {
  report(runs, out, made_up_settings, std::forward<More>(more)...);
}

// The page of a report on them.
inline std::string made_up_page(const std::vector<fs::path>& runs, const fs::path& out) {
  report_made_up(runs, out);
  const std::string html = read_file(out / "report.html");
  expect_well_formed(html);
  return html;
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
      dice.push_back(score(name, resolution, format("case_{}", i), 0.2 * i, "whole_tumor"));
      dice.back().hd95 = i;
    }
    TimingRow timing;
    timing.run = name;
    timing.resolution = resolution;
    timing.device = "cpu";
    timing.planner = "keep";
    write_csv(run / "epochs.csv", csv_of(epochs));
    write_csv(run / "validation.csv",
              csv_of<ValidationRow>({{name, 1, resolution, 1, 60, "whole_tumor", 0.5},
                                     {name, 1, resolution, 2, 120, "whole_tumor", 0.75}}));
    write_csv(run / "dice.csv", csv_of(dice));
    write_csv(run / "timing.csv", csv_of<TimingRow>({timing}));
    write_file(run / "experiment.yaml", "training:\n  precision: bf16\n  note: a < b & c\n");
    return run;
  }
  fs::path first() const { return make_run("a", "first", "64"); }
  fs::path second() const { return make_run("b", "second", "96"); }
};

}  // namespace voxswap::pipeline
