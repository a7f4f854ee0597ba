// The section with runs: versions, devices, progress and experiment files.
#include <algorithm>
#include <map>

#include "base/json.h"
#include "base/keys.h"
#include "base/units.h"
#include "base/xml.h"
#include "pipeline/report/html.h"
#include "pipeline/report/lists.h"
#include "pipeline/report/page.h"

namespace voxswap::pipeline {

namespace {

// A property of a run; properties that differ become columns of the table of runs.
struct Trait {
  const char *name, *key;
  bool first;  // listed at the top of the page
};
constexpr Trait traits[] = {
    {"Data", key::data_root, true},        {"Network", key::network_name, true},
    {"Device", "ran_with.device", true},   {"Precision", "ran_with.precision", true},
    {"voxswap", "ran_with.voxswap", true}, {"Commit", "ran_with.commit", true},
    {"Layout", key::data_layout, false},   {"Backend", "ran_with.backend", false},
    {"Cores", "ran_with.cores", false},    {"Compiler", "ran_with.compiler", false},
    {"Loss", key::training_loss, false},   {"Optimiser", key::training_optimizer_name, false}};

bool common(const std::vector<RunFolder>& runs, const Trait& trait) {
  return distinct(runs, [&](const RunFolder& run) { return run.setting(trait.key); }).size() == 1;
}

std::string cases_words(const RunFolder& run) {
  if (run.training_cases + run.validation_cases == 0) return {};
  return format("{} training, {} validation", run.training_cases, run.validation_cases);
}

std::string runs_table(const ReportParts& parts) {
  Rows rows(1, {"Run", "Resolution, voxels", "Setting", "State", "Started", "Cases", "Epochs", "Best epoch",
                "Best validation loss", "Total time"});
  for (const Trait& trait : traits)
    if (!common(parts.runs, trait)) rows[0].push_back(trait.name);
  for (const RunFolder& run : parts.runs) {
    std::int64_t epochs = 0;
    for (const EpochRow& row : run.epochs) epochs = std::max(epochs, row.epoch);
    std::vector<std::string> best, losses;  // of each repeat
    for (const EpochRow& row : best_epochs(run.epochs)) {
      best.push_back(std::to_string(row.epoch));
      losses.push_back(format("{:.4f}", row.validation_loss));
    }
    const RunGroup& group = parts.groups[run.group_in(parts.groups)];
    double seconds = 0;
    for (const PhaseRow& row : run.phases) seconds += row.seconds;
    rows.push_back({run.name, group.resolution, group.setting, run.state(), run.setting("ran_with.started"),
                    cases_words(run), std::to_string(epochs), join(best, ", "), join(losses, ", "),
                    run.phases.empty() ? "" : format_seconds(seconds)});
    for (const Trait& trait : traits)
      if (!common(parts.runs, trait)) rows.back().push_back(run.setting(trait.key));
  }
  return table_section(without_empty_columns(rows), "runs.csv");
}

// The different values in the order of the runs, without empty ones.
template <class Of>
std::vector<std::string> values(const std::vector<RunFolder>& runs, const Of& of) {
  std::vector<std::string> all = distinct(runs, of);
  std::erase(all, "");
  return all;
}

std::vector<std::string> values(const std::vector<RunFolder>& runs, const char* key) {
  return values(runs, [&](const RunFolder& run) { return run.setting(key); });
}

std::string time_words(const std::vector<RunFolder>& runs) {
  double all = 0;
  std::map<std::string, double> of;
  for (const RunFolder& run : runs) {
    double seconds = 0;
    for (const PhaseRow& row : run.phases) {
      seconds += row.seconds;
      of[row.phase] += row.seconds;
    }
    all += seconds;
  }
  if (of.empty()) return {};
  std::vector<std::string> phases;
  for (const char* phase : {"planning", "preparing", "training", "predicting"})
    if (of.contains(phase)) phases.push_back(format("{} {}", phase, format_seconds(of[phase])));
  return format("{}: {}", format_seconds(all), join(phases, ", "));
}

// The plan's scalars; its lists are only in plan.json.
std::string plan_table(const RunFolder& run) {
  const fs::path file = run.path / "plan.json";
  if (!fs::exists(file)) return {};
  const auto plan = parse_json(read_file(file));
  if (!plan.is_object()) return {};
  Rows rows(1, {"Memory plan", ""});
  for (const auto& [key, value] : plan.items()) {
    if (value.is_string()) rows.push_back({heading_of(key), value.get<std::string>()});
    if (!value.is_number()) continue;
    const bool bytes = ends_with(key, "bytes") && value.is_number_integer();
    rows.push_back(
        {heading_of(key),
         bytes ? format("{} ({})", value.dump(), format_bytes(value.get<std::int64_t>())) : value.dump()});
  }
  return rows.size() == 1 ? "" : table_section(rows, format("plan of {}.csv", run.name));
}

using Facts = std::vector<std::pair<std::string, std::string>>;

void add(Facts& facts, const char* name, const std::string& value) {
  if (!value.empty()) facts.emplace_back(name, value);
}

void add_traits(Facts& facts, const std::vector<RunFolder>& runs, bool first) {
  constexpr std::size_t most_values = 3;  // listed per property
  for (const Trait& trait : traits)
    if (trait.first == first) add(facts, trait.name, listed(values(runs, trait.key), most_values));
}

}  // namespace

std::string facts_section(const ReportParts& parts) {
  Facts facts;
  if (parts.runs.size() > 1)
    add(facts, "Runs",
        parts.groups.size() == parts.runs.size()
            ? std::to_string(parts.runs.size())
            : format("{}, repeats of {}", parts.runs.size(), counted(parts.groups.size(), "setting")));
  std::vector<std::string> started = values(parts.runs, "ran_with.started");
  std::sort(started.begin(), started.end());
  if (!started.empty())
    add(facts, "Started",
        started.size() == 1 ? started[0] : format("{} to {}", started.front(), started.back()));
  add(facts, "Total time", time_words(parts.runs));
  add(facts, "Cases", join(values(parts.runs, cases_words), "; "));
  add_traits(facts, parts.runs, true);
  return facts.empty() ? "" : html_facts(facts);
}

std::string runs_section(const ReportParts& parts) {
  Facts facts;
  add_traits(facts, parts.runs, false);
  std::string html = runs_table(parts) + (facts.empty() ? "" : html_facts(facts));
  for (const RunFolder& run : parts.runs) {
    const std::string plan = plan_table(run);
    if (run.experiment.empty() && plan.empty()) continue;
    html += format("<details><summary>{}: experiment and memory plan</summary>\n{}<pre>{}</pre></details>\n",
                   xml_escaped(run.name), plan, xml_escaped(run.experiment));
  }
  return html_secondary_section("runs", "Runs", html);
}

}  // namespace voxswap::pipeline
