#include "cli/sweep_cell.h"

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/folder_lock.h"
#include "base/json.h"
#include "base/own_folder.h"
#include "pipeline/report/tables.h"

namespace voxswap::cli {

namespace {

const fs::path& folder_of(const experiments::SweepCell& cell) {
  return cell.experiment.output;
}
fs::path asked_file(const experiments::SweepCell& cell) {
  return folder_of(cell) / experiments::cell_file;
}
fs::path outcome_file(const experiments::SweepCell& cell) {
  return folder_of(cell) / "outcome.json";
}

// Command-line arguments besides the experiment, its folder and the share of the machine.
std::vector<std::string> question_words(const experiments::SweepQuestion& question,
                                        const std::string& command) {
  std::vector<std::string> words;
  const auto add = [&](const char* option, const std::string& value) {
    words.insert(words.end(), {option, value});
  };
  if (command == "bench") add("--steps", std::to_string(question.steps));
  if (question.trace) words.emplace_back("--trace");
  if (!question.as.empty()) add("--as", question.as);
  if (!question.largest.empty()) words.push_back("--max-" + question.largest);
  if (question.devices > 1) add("--devices", std::to_string(question.devices));
  if (question.devices_per_link > 1) add("--devices-per-link", std::to_string(question.devices_per_link));
  return words;
}

std::string first_line(const experiments::SweepCell& cell, const std::string& command) {
  std::string line = "# voxswap " + command + " cell.yaml";
  for (const std::string& word : question_words(cell.question, command)) line += " " + word;
  return line;
}

std::string last_error(const fs::path& log) {
  const std::string text = fs::exists(log) ? read_file(log) : "";
  const std::string mark = "error: ";
  std::string message;
  for (const std::string& line : split(text, '\n'))
    if (line.starts_with(mark)) message = line.substr(mark.size());
  return message;
}

}  // namespace

void check_cell(const experiments::SweepCell& cell, const std::string& command) {
  const fs::path& folder = folder_of(cell);
  if (!holds_anything(folder)) return;
  if (!fs::exists(asked_file(cell)))
    fail(Exit::failed,
         "{}: is not a cell of a sweep, because it contains no cell.yaml. Remove it or choose another --out",
         folder.string());
  std::vector<std::string> changed;
  for (const pipeline::Setting& setting :
       experiments::changed_settings(experiments::load_experiment(asked_file(cell), {}), cell.experiment))
    if (setting.decides != pipeline::Decides::nothing) changed.push_back(setting.key);
  const std::string before = split(read_file(asked_file(cell)), '\n')[0], now = first_line(cell, command);
  if (before != now)
    changed.push_back(format("the command (`{}`, now `{}`)", before.substr(2), now.substr(2)));
  if (!changed.empty())
    fail(Exit::usage,
         "{}: this cell was started with other values of {}. Restore them, remove the folder, or choose "
         "another --out",
         folder.string(), join(changed, ", "));
}

std::optional<CellOutcome> read_outcome(const experiments::SweepCell& cell) {
  const fs::path file = outcome_file(cell);
  if (!fs::exists(file)) return std::nullopt;
  try {
    const auto json = checked_json(read_file(file));
    return CellOutcome{json.at("exit").get<int>(), json.at("seconds").get<double>(),
                       json.at("message").get<std::string>(), json.value("until", std::int64_t{0})};
  } catch (const Json::exception&) {
    fail(Exit::bad_data, "{}: was not written by a sweep, or is damaged. Remove it, and the cell runs again",
         file.string());
  }
}

bool is_settled(const CellOutcome& outcome, const std::string& command, std::int64_t until) {
  const bool unfit = outcome.exit == static_cast<int>(Exit::does_not_fit) && command != "run";
  const bool far_enough = outcome.until == 0 || (until > 0 && outcome.until >= until);
  return unfit || (outcome.exit == 0 && far_enough);
}

void begin_cell(const experiments::SweepCell& cell, const std::string& command, std::int64_t reached) {
  const auto before = reached > 0 ? read_outcome(cell) : std::nullopt;
  make_writable_directory(folder_of(cell));
  write_file(asked_file(cell), first_line(cell, command) + "\n" + cell.experiment.resolved);
  if (reached > 0)
    write_outcome(cell, {0, before ? before->seconds : 0, "", reached});
  else
    remove_own(outcome_file(cell));
}

CellOutcome end_cell(const experiments::SweepCell& cell, int exit, double seconds, std::int64_t until) {
  const auto before = read_outcome(cell);
  CellOutcome outcome{exit, seconds + (before ? before->seconds : 0), "", 0};
  if (exit != 0) outcome.message = last_error(cell_log(cell));
  if (exit >= 128 && outcome.message.empty()) outcome.message = format("ended by signal {}", exit - 128);
  const bool scored = fs::exists(folder_of(cell) / "dice.csv") || fs::exists(folder_of(cell) / "classes.csv");
  if (exit == 0 && !scored) outcome.until = until;
  write_outcome(cell, outcome);
  return outcome;
}

void write_outcome(const experiments::SweepCell& cell, const CellOutcome& outcome) {
  Json json = {{"exit", outcome.exit}, {"seconds", outcome.seconds}, {"message", outcome.message}};
  if (outcome.until > 0) json["until"] = outcome.until;
  write_file(outcome_file(cell), json.dump(2) + "\n");
}

std::vector<std::string> cell_arguments(const experiments::SweepCell& cell, const std::string& command,
                                        const std::vector<std::string>& overrides, std::int64_t until) {
  std::vector<std::string> words = {command, asked_file(cell).string(), "--out", folder_of(cell).string()};
  if (command == "run") words.emplace_back("--resume");
  if (until > 0) words.insert(words.end(), {"--until", std::to_string(until)});
  for (const std::string& word : question_words(cell.question, command)) words.push_back(word);
  words.insert(words.end(), overrides.begin(), overrides.end());
  return words;
}

fs::path cell_log(const experiments::SweepCell& cell) {
  return folder_of(cell) / "log.txt";
}

std::string cell_progress(const experiments::SweepCell& cell) {
  const auto rows = pipeline::rows_in<pipeline::ValidationRow>(folder_of(cell) / "validation.csv");
  if (rows.empty()) return "";
  const pipeline::ValidationRow& last = rows.back();
  double dice = 0, regions = 0;
  for (const pipeline::ValidationRow& row : rows) {
    if (row.repeat != last.repeat || row.epoch != last.epoch) continue;
    dice += row.dice;
    ++regions;
  }
  const pipeline::TrainingOptions& training = cell.experiment.training;
  const std::string repeat =
      training.repeats > 1 ? format("repeat {}/{}, ", last.repeat, training.repeats) : "";
  return format("{}epoch {}/{}, Dice {:.3f}", repeat, last.epoch, training.epochs, dice / regions);
}

}  // namespace voxswap::cli
