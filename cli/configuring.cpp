#include "cli/configuring.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/json.h"
#include "base/keys.h"
#include "base/log.h"
#include "base/text.h"
#include "base/units.h"
#include "library/run_folder.h"
#include "metrics/box_statistics.h"
#include "net/collective/launched.h"

namespace voxswap::cli {

pipeline::Fingerprint fingerprint_for(const experiments::ConfigureRequest& request, bool leave_out) {
  constexpr std::size_t most = 20;
  pipeline::Fingerprint fingerprint = pipeline::take_fingerprint(experiments::unconfigured(request).run.data);
  const std::vector<pipeline::UnreadableCase>& unreadable = fingerprint.unreadable;
  if (unreadable.empty()) return fingerprint;
  std::string list;
  for (std::size_t i = 0; i < std::min(most, unreadable.size()); ++i)
    list += format("\n  {}: {}", unreadable[i].id, unreadable[i].why);
  if (unreadable.size() > most)
    list += format("\n  and {}", counted(static_cast<std::int64_t>(unreadable.size() - most), "other"));
  const std::string what =
      format("{}: {} of {} cannot be read:{}", request.root.string(), unreadable.size(),
             counted(static_cast<std::int64_t>(unreadable.size() + fingerprint.cases.size()), "case"), list);
  const bool missing =
      std::any_of(unreadable.begin(), unreadable.end(), [](const auto& one) { return one.file_is_missing; });
  if (missing)
    fail(Exit::bad_data,
         "{}\nFiles are missing, which no split can leave out. Remove these cases, or set {}=true if "
         "channels may be missing",
         what, key::data_missing_modalities);
  if (!leave_out || fingerprint.cases.empty())
    fail(Exit::bad_data, "{}\nRepair or remove them, or leave them out with `voxswap configure --leave-out`",
         what);
  log::warn("{}\nThey are left out", what);
  return fingerprint;
}

bool is_dataset_folder(const fs::path& path) {
  error_code ignored;
  return fs::is_directory(path, ignored) && !fs::is_regular_file(path / "experiment.yaml", ignored);
}

experiments::Experiment configured(const ExperimentArguments& where, bool resume) {
  if (net::launched_count() > 1)
    fail(Exit::usage,
         "{}: is a folder. Several ranks need an experiment file: write it with `voxswap configure {}`",
         where.file, where.file);
  experiments::ConfigureRequest request;
  request.root = where.file;
  request.overrides = where.overrides;
  if (!where.out.empty()) request.overrides.push_back("output.dir=" + where.out);
  const experiments::Experiment before = experiments::unconfigured(request);
  const fs::path written = before.run.output / "experiment.yaml";
  error_code ignored;
  if (resume && fs::is_regular_file(written, ignored))
    return load({written.string(), where.overrides, before.run.output.string()});
  library::check_run_folder(before, resume);
  const pipeline::Fingerprint fingerprint = fingerprint_for(request, /*leave_out=*/false);
  const experiments::Configuration configuration = experiments::configure(fingerprint, request);
  const experiments::Candidate& chosen = configuration.candidates[configuration.chosen];
  log::info("{} is a data set, configured: {} {}, batch {}, {} in {}; every key is in {}", where.file,
            chosen.context, experiments::list_text(chosen.size), chosen.batch,
            counted(configuration.epochs, "epoch"), format_seconds(configuration.training_seconds),
            written.string());
  return configuration.experiment;
}

namespace {

using experiments::Candidate;
using pipeline::CaseFingerprint;
using pipeline::Fingerprint;
using Rows = std::vector<std::vector<std::string>>;

template <class Value>
std::vector<std::string> statistics_row(const std::string& name, const Fingerprint& fingerprint,
                                        Value value) {
  std::vector<double> values;
  for (const CaseFingerprint& one : fingerprint.cases) values.push_back(static_cast<double>(value(one)));
  const metrics::BoxStatistics of = metrics::box_statistics(values);
  return {name, format("{:.4g}", of.median), format("{:.4g}", of.minimum), format("{:.4g}", of.maximum)};
}

std::string grids_table(const Fingerprint& fingerprint) {
  Rows rows = {{"over the cases", "median", "min", "max"}};
  for (std::size_t axis = 0; axis < 3; ++axis)
    rows.push_back(statistics_row(format("size along {}, voxels", "xyz"[axis]), fingerprint,
                                  [&](const auto& one) { return one.grid.size[axis]; }));
  for (std::size_t axis = 0; axis < 3; ++axis)
    rows.push_back(statistics_row(format("spacing along {}, mm", "xyz"[axis]), fingerprint,
                                  [&](const auto& one) { return one.grid.spacing[axis]; }));
  for (std::size_t axis = 0; axis < 3; ++axis)
    rows.push_back(statistics_row(format("foreground along {}, voxels", "xyz"[axis]), fingerprint,
                                  [&](const auto& one) { return one.foreground[axis]; }));
  return table(rows);
}

std::int64_t cases_without(const Fingerprint& fingerprint, std::size_t channel) {
  return std::count_if(fingerprint.cases.begin(), fingerprint.cases.end(),
                       [&](const auto& one) { return !one.channels[channel]; });
}

std::string channels_table(const Fingerprint& fingerprint) {
  Rows rows = {{"channel, median of the foregrounds", "mean", "deviation", "0.5 %", "50 %", "99.5 %",
                "cases without"}};
  for (std::size_t i = 0; i < fingerprint.dataset.modalities.size(); ++i) {
    const pipeline::Intensities of = fingerprint.median_intensities(i);
    std::vector<std::string> row = {fingerprint.dataset.modalities[i]};
    for (const double value :
         {of.mean, of.deviation, of.percentiles[0], of.percentiles[1], of.percentiles[2]})
      row.push_back(format("{:.4g}", value));
    row.push_back(std::to_string(cases_without(fingerprint, i)));
    rows.push_back(row);
  }
  return table(rows);
}

std::string labels_table(const Fingerprint& fingerprint) {
  Rows rows = {{"label", "value", "cases", "voxels: median", "components: median", "max"}};
  for (const auto& [name, value] : fingerprint.dataset.labels) {
    std::vector<double> voxels, components;
    for (const CaseFingerprint& one : fingerprint.cases) {
      const auto found = one.labels.find(value);
      if (found == one.labels.end()) continue;
      voxels.push_back(static_cast<double>(found->second.voxels));
      components.push_back(static_cast<double>(found->second.components));
    }
    const auto text = [&](double count) { return voxels.empty() ? "-" : format("{:.0f}", count); };
    const metrics::BoxStatistics of = metrics::box_statistics(components);
    rows.push_back({name, std::to_string(value), std::to_string(voxels.size()),
                    text(metrics::quantile(voxels, 0.5)), text(of.median), text(of.maximum)});
  }
  return table(rows);
}

std::string axes_text(const Fingerprint& fingerprint) {
  std::set<std::string> axes;
  for (const CaseFingerprint& one : fingerprint.cases) axes.insert(one.axes);
  return join({axes.begin(), axes.end()}, ", ");
}

Json case_json(const CaseFingerprint& one, const data::Dataset& dataset) {
  Json json = {{"case", one.id},
               {"size", one.grid.size},
               {"spacing", one.grid.spacing},
               {"axes", one.axes},
               {"foreground", one.foreground}};
  for (std::size_t i = 0; i < one.channels.size(); ++i) {
    Json& channel = json["channels"][dataset.modalities[i]];
    if (!one.channels[i]) continue;
    channel = {{"mean", one.channels[i]->mean}, {"deviation", one.channels[i]->deviation}};
    for (std::size_t p = 0; p < pipeline::Intensities::ranks.size(); ++p)
      channel["percentiles"][number(pipeline::Intensities::ranks[p])] = one.channels[i]->percentiles[p];
  }
  for (const auto& [value, extent] : one.labels)
    json["labels"][std::to_string(value)] = {{"voxels", extent.voxels}, {"components", extent.components}};
  return json;
}

Json candidate_json(const Candidate& one) {
  Json json = {{"context", one.context}, {"size", one.size}, {"batch", one.batch}};
  if (!one.why_not.empty()) {
    json["does_not_fit"] = one.why_not;
    return json;
  }
  json["memory_bytes"] = one.memory_bytes;
  json["step_seconds"] = one.step_seconds;
  json["seconds_per_megavoxel"] = 1e6 * one.seconds_per_voxel();
  json["epoch_seconds"] = one.epoch_seconds;
  return json;
}

}  // namespace

std::string fingerprint_text(const Fingerprint& fingerprint) {
  const data::Dataset& dataset = fingerprint.dataset;
  std::string text =
      format("{}: {}\n{}, axes {}\n\n", dataset.root.string(), dataset.recognised,
             counted(static_cast<std::int64_t>(dataset.cases.size()), "case"), axes_text(fingerprint));
  return text + grids_table(fingerprint) + "\n" + channels_table(fingerprint) + "\n" +
         labels_table(fingerprint);
}

std::string configuration_text(const experiments::Configuration& configuration) {
  Rows rows = {{"candidate", "size", "batch", "memory", "step", "per megavoxel", "epoch", ""}};
  for (std::size_t i = 0; i < configuration.candidates.size(); ++i) {
    const Candidate& one = configuration.candidates[i];
    std::vector<std::string> row = {one.context, experiments::list_text(one.size), std::to_string(one.batch)};
    if (one.why_not.empty())
      for (const std::string& cell :
           {format_bytes(one.memory_bytes), format_seconds(one.step_seconds),
            format_seconds(1e6 * one.seconds_per_voxel()), format_seconds(one.epoch_seconds),
            std::string(i == configuration.chosen ? "chosen" : "")})
        row.push_back(cell);
    else
      row.insert(row.end(), {"-", "-", "-", "-", "does not fit"});
    rows.push_back(row);
  }
  Rows chosen = {{"key", "value", "why"}};
  for (const experiments::Choice& choice : configuration.choices)
    chosen.push_back({choice.key, choice.value, choice.why});
  return format("\n{}planned for {}, {}; costs: {}\n\n{}\n{}, predicted {}\n", table(rows),
                configuration.device, configuration.precision, configuration.costs, table(chosen),
                counted(configuration.epochs, "epoch"), format_seconds(configuration.training_seconds));
}

std::string configuration_json(const Fingerprint& fingerprint,
                               const experiments::Configuration& configuration) {
  const data::Dataset& dataset = fingerprint.dataset;
  Json json = {{"root", dataset.root.string()},  {"layout", dataset.layout},
               {"left_out", Json::array()},      {"fingerprint", Json::array()},
               {"candidates", Json::array()},    {"chosen", configuration.chosen},
               {"device", configuration.device}, {"precision", configuration.precision},
               {"costs", configuration.costs},   {"training_seconds", configuration.training_seconds}};
  for (const auto& one : fingerprint.unreadable)
    json["left_out"].push_back({{"case", one.id}, {"why", one.why}});
  for (const CaseFingerprint& one : fingerprint.cases) json["fingerprint"].push_back(case_json(one, dataset));
  for (const Candidate& one : configuration.candidates) json["candidates"].push_back(candidate_json(one));
  for (const experiments::Choice& choice : configuration.choices)
    json["experiment"][choice.key] = {{"value", choice.value}, {"why", choice.why}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace voxswap::cli
