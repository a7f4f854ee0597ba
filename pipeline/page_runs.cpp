// What was run, on the page: with which versions, where, how far, and the experiments themselves.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "base/units.h"
#include "pipeline/html.h"
#include "pipeline/page_parts.h"

namespace voxswap {

namespace fs = std::filesystem;

namespace {

std::string value_of(const RunFolder& run, const std::string& key) {
  const auto found = run.keys.find(key);
  if (found == run.keys.end()) return {};
  const std::string& value = found->second;
  const bool quoted = value.size() > 1 && value.front() == '"' && value.back() == '"';
  return quoted ? value.substr(1, value.size() - 2) : value;
}

// A column per thing that a run was made with; what all have in common is a sentence instead.
struct Trait {
  const char *name, *key;
};
constexpr Trait traits[] = {{"device", "ran_with.device"},
                            {"backend", "ran_with.backend"},
                            {"cores", "ran_with.cores"},
                            {"voxswap", "ran_with.voxswap"},
                            {"compiler", "ran_with.compiler"},
                            {"precision", "training.precision"},
                            {"computed in", "ran_with.precision"},
                            {"network", "network.name"},
                            {"loss", "training.loss"},
                            {"optimizer", "training.optimizer.name"}};

bool common(const std::vector<RunFolder>& runs, const Trait& trait) {
  return std::all_of(runs.begin(), runs.end(), [&](const RunFolder& run) {
    return value_of(run, trait.key) == value_of(runs.front(), trait.key);
  });
}

std::string runs_table(const ReportParts& parts) {
  Rows rows(1, {"run", "resolution", "setting", "state", "epochs", "best validation loss"});
  for (const Trait& trait : traits) {
    if (!common(parts.runs, trait)) rows[0].push_back(trait.name);
  }
  for (const RunFolder& run : parts.runs) {
    std::int64_t epochs = 0;
    double best = std::nan("");
    for (const EpochRow& row : run.epochs) {
      epochs = std::max(epochs, row.epoch);
      best = std::fmin(best, row.validation_loss);
    }
    const std::vector<RunInTable> members = run.in_tables();
    const RunGroup& group = parts.groups[group_of(parts.groups, members[0].run, members[0].resolution)];
    rows.push_back({run.name, group.resolution, group.setting, run.state(), std::to_string(epochs),
                    std::isnan(best) ? "nan" : format("{:.4f}", best)});
    for (const Trait& trait : traits) {
      if (!common(parts.runs, trait)) rows.back().push_back(value_of(run, trait.key));
    }
  }
  const Rows shown = without_empty_columns(rows);
  return table_section(shown, "runs.csv", {shown[0], {shown.begin() + 1, shown.end()}});
}

std::string common_traits(const std::vector<RunFolder>& runs) {
  Rows rows(1, {runs.size() > 1 ? "all of them" : "made with", ""});
  for (const Trait& trait : traits) {
    const std::string value = value_of(runs.front(), trait.key);
    if (common(runs, trait) && !value.empty()) rows.push_back({trait.name, value});
  }
  return rows.size() == 1 ? "" : html_table(rows);
}

// The plan's plain numbers; its lists stay in plan.json.
std::string plan_table(const fs::path& file) {
  if (!fs::exists(file)) return {};
  const auto plan = nlohmann::ordered_json::parse(read_file(file), nullptr, false);
  if (!plan.is_object()) return {};
  Rows rows(1, {"memory plan", ""});
  for (const auto& [key, value] : plan.items()) {
    if (value.is_string()) rows.push_back({key, value.get<std::string>()});
    if (!value.is_number()) continue;
    const bool bytes = ends_with(key, "bytes") && value.is_number_integer();
    rows.push_back({key, bytes ? format("{} ({})", value.dump(), format_bytes(value.get<std::int64_t>()))
                               : value.dump()});
  }
  return rows.size() == 1 ? "" : html_table(rows);
}

}  // namespace

std::string runs_summary(const ReportParts& parts) {
  std::vector<std::string> words{parts.runs.size() == 1 ? "1 run" : format("{} runs", parts.runs.size())};
  if (parts.groups.size() < parts.runs.size()) words.push_back(format("{} settings", parts.groups.size()));
  const Trait voxswap{"voxswap", "ran_with.voxswap"}, device{"device", "ran_with.device"};
  const std::string version = value_of(parts.runs.front(), voxswap.key),
                    where = value_of(parts.runs.front(), device.key);
  if (common(parts.runs, voxswap) && !version.empty()) words.push_back("voxswap " + version);
  if (common(parts.runs, device) && !where.empty()) words.push_back(where);
  return join(words, "; ");
}

std::string runs_section(const ReportParts& parts) {
  std::string html = "<h2>What was run</h2>\n" + runs_table(parts) + common_traits(parts.runs);
  for (const RunFolder& run : parts.runs) {
    const std::string plan = plan_table(run.path / "plan.json");
    if (run.experiment.empty() && plan.empty()) continue;
    html += format("<details><summary>{}: experiment and memory plan</summary>\n{}<pre>{}</pre></details>\n",
                   html_escape(run.name), plan, html_escape(run.experiment));
  }
  return html;
}

}  // namespace voxswap
