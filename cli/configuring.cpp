#include "cli/configuring.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/json.h"
#include "base/keys.h"
#include "base/log.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xml.h"
#include "cli/problem_groups.h"
#include "library/run_folder.h"
#include "metrics/box_statistics.h"
#include "net/collective/launched.h"
#include "pipeline/cases/intensity_plot.h"
#include "pipeline/report/figure.h"
#include "pipeline/report/html.h"

namespace voxswap::cli {

pipeline::Fingerprint fingerprint_for(const experiments::ConfigureRequest& request, bool leave_out) {
  constexpr std::size_t most = 20;
  const pipeline::Experiment experiment = experiments::unconfigured(request);
  pipeline::Fingerprint fingerprint =
      pipeline::take_fingerprint(experiment.data, pipeline::fingerprint_folder(experiment.cache));
  const std::vector<pipeline::UnreadableCase>& unreadable = fingerprint.unreadable;
  if (unreadable.empty()) return fingerprint;
  std::vector<data::Problem> problems;
  for (const pipeline::UnreadableCase& one : unreadable) problems.push_back({one.id, "error", one.why, ""});
  const std::size_t cases = unreadable.size() + fingerprint.cases.size();
  const std::vector<ProblemGroup> groups = grouped(problems, experiment.data.root);
  std::string what = format("{}: {} of {} cannot be read:", request.root.string(), unreadable.size(),
                            counted(static_cast<std::int64_t>(cases), "case"));
  for (std::size_t i = 0; i < std::min(most, groups.size()); ++i) what += "\n  " + sentence(groups[i], cases);
  if (groups.size() > most)
    what += format("\n  and {}", counted(static_cast<std::int64_t>(groups.size() - most), "other problem"));
  if (fingerprint.cases.empty()) fail(Exit::bad_data, "{}\nNo readable case remains. Repair the files", what);
  if (!leave_out)
    fail(Exit::bad_data,
         "{}\nRepair or remove these cases, or skip them with `voxswap configure --leave-out`. If channels "
         "may be missing, set {}=true",
         what, key::data_missing_modalities);
  log::warn("{}\nThese cases are skipped", what);
  return fingerprint;
}

bool is_dataset_folder(const fs::path& path) {
  error_code ignored;
  return fs::is_directory(path, ignored) && !fs::is_regular_file(path / "experiment.yaml", ignored);
}

namespace {

std::string epochs_text(const experiments::Configuration& configuration) {
  std::string epochs = counted(configuration.epochs, "epoch");
  if (const std::int64_t growth = configuration.candidates[configuration.chosen].growth_epochs; growth > 0)
    epochs = format("{} at twice the voxel size, then {}", counted(growth, "epoch"), epochs);
  return configuration.networks == 1
             ? epochs
             : format("{} of {} each", counted(configuration.networks, "network"), epochs);
}

}  // namespace

experiments::LoadedExperiment configured(const ExperimentArguments& where, double hours, bool resume) {
  if (net::launched_count() > 1)
    fail(Exit::usage,
         "{}: is a folder. Several ranks need an experiment file: write it with `voxswap configure {}`",
         where.file, where.file);
  experiments::ConfigureRequest request;
  request.root = where.file;
  request.hours = hours;
  request.overrides = where.overrides;
  if (!where.out.empty()) request.overrides.push_back("output.dir=" + where.out);
  const experiments::LoadedExperiment before = experiments::unconfigured(request);
  if (const fs::path file = library::experiment_file(before.output); resume && !file.empty())
    return load({file.string(), where.overrides, before.output.string()});
  library::check_run_folder(before, resume);
  const pipeline::Fingerprint fingerprint = fingerprint_for(request, /*leave_out=*/false);
  const experiments::Configuration configuration = experiments::configure(fingerprint, request);
  const experiments::Candidate& chosen = configuration.candidates[configuration.chosen];
  log::info("{}: experiment configured for this data set: {} {}, batch {}, {} in {}; all keys will be in {}",
            where.file, chosen.context, experiments::list_text(chosen.size), chosen.batch,
            epochs_text(configuration), format_seconds(configuration.training_seconds),
            (before.output / "experiment.yaml").string());
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

Rows grids_rows(const Fingerprint& fingerprint) {
  Rows rows = {{"per case", "median", "min", "max"}};
  for (std::size_t axis = 0; axis < 3; ++axis)
    rows.push_back(statistics_row(format("size along {}, voxels", "xyz"[axis]), fingerprint,
                                  [&](const auto& one) { return one.grid.size[axis]; }));
  for (std::size_t axis = 0; axis < 3; ++axis)
    rows.push_back(statistics_row(format("spacing along {}, mm", "xyz"[axis]), fingerprint,
                                  [&](const auto& one) { return one.grid.spacing[axis]; }));
  for (std::size_t axis = 0; axis < 3; ++axis)
    rows.push_back(statistics_row(format("foreground along {}, voxels", "xyz"[axis]), fingerprint,
                                  [&](const auto& one) { return one.foreground[axis]; }));
  return rows;
}

std::int64_t cases_without(const Fingerprint& fingerprint, std::size_t channel) {
  return std::count_if(fingerprint.cases.begin(), fingerprint.cases.end(),
                       [&](const auto& one) { return !one.channels[channel]; });
}

constexpr const char* of_channels = "foreground intensities, median over the cases";

Rows channels_rows(const Fingerprint& fingerprint) {
  Rows rows = {{"channel", "mean", "SD", "0.5 %", "50 %", "99.5 %", "cases without it"}};
  for (std::size_t i = 0; i < fingerprint.dataset.modalities.size(); ++i) {
    const pipeline::Intensities of = fingerprint.median_intensities(i);
    std::vector<std::string> row = {fingerprint.dataset.modalities[i]};
    for (const double value : {of.mean, of.deviation, of.lowest(), of.median(), of.highest()})
      row.push_back(format("{:.4g}", value));
    row.push_back(std::to_string(cases_without(fingerprint, i)));
    rows.push_back(row);
  }
  return rows;
}

Rows labels_rows(const Fingerprint& fingerprint) {
  Rows rows = {{"label", "value", "cases", "voxels, median", "components, median", "components, max"}};
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
  return rows;
}

std::string axes_text(const Fingerprint& fingerprint) {
  std::set<std::string> axes;
  for (const CaseFingerprint& one : fingerprint.cases) axes.insert(one.axes);
  return join({axes.begin(), axes.end()}, ", ");
}

Json candidate_json(const Candidate& one) {
  Json json = {{"context", one.context}, {"spacing", one.spacing}, {"size", one.size}, {"batch", one.batch}};
  if (!one.why_not.empty()) {
    json["does_not_fit"] = one.why_not;
    return json;
  }
  json["memory_bytes"] = one.memory_bytes;
  json["step_seconds"] = one.step_seconds;
  json["seconds_per_megavoxel"] = 1e6 * one.seconds_per_voxel();
  json["epoch_seconds"] = one.epoch_seconds;
  if (one.growth_epochs > 0)
    json["growth"] = {{"epochs", one.growth_epochs}, {"seconds", one.growth_seconds}};
  return json;
}

Rows candidate_rows(const experiments::Configuration& configuration) {
  Rows rows = {{"candidate", "size", "batch", "memory", "step", "step per Mvoxel", "epoch", ""}};
  for (std::size_t i = 0; i < configuration.candidates.size(); ++i) {
    const Candidate& one = configuration.candidates[i];
    const auto swept = std::find(configuration.swept.begin(), configuration.swept.end(), i);
    std::vector<std::string> row = {one.context, experiments::list_text(one.size), std::to_string(one.batch)};
    if (one.why_not.empty())
      for (const std::string& cell :
           {format_bytes(one.memory_bytes), format_seconds(one.step_seconds),
            format_seconds(1e6 * one.seconds_per_voxel()), format_seconds(one.epoch_seconds),
            std::string(i == configuration.chosen            ? "chosen"
                        : swept != configuration.swept.end() ? "swept"
                                                             : "")})
        row.push_back(cell);
    else
      row.insert(row.end(), {"-", "-", "-", "-", "does not fit"});
    rows.push_back(row);
  }
  return rows;
}

Rows choice_rows(const experiments::Configuration& configuration, std::size_t most_letters) {
  Rows rows = {{"key", "value", "why"}};
  for (const experiments::Choice& choice : configuration.choices)
    rows.push_back({choice.key, pipeline::shortened(choice.value, most_letters), choice.why});
  return rows;
}

}  // namespace

std::string fingerprint_text(const Fingerprint& fingerprint) {
  const data::Dataset& dataset = fingerprint.dataset;
  std::string text =
      format("{}: {}\n{}, axes {}\n\n", dataset.root.string(), dataset.recognised,
             counted(static_cast<std::int64_t>(dataset.cases.size()), "case"), axes_text(fingerprint));
  return text + table(grids_rows(fingerprint)) + format("\n{}:\n", of_channels) +
         table(channels_rows(fingerprint)) + "\n" + table(labels_rows(fingerprint));
}

std::string configuration_text(const experiments::Configuration& configuration) {
  return format("\n{}planned for {}, {}\ncosts: {}\n\n{}\n{}, predicted {}\n",
                table(candidate_rows(configuration)), configuration.device, configuration.precision,
                configuration.costs, table(choice_rows(configuration, 40)), epochs_text(configuration),
                format_seconds(configuration.training_seconds));
}

std::string configuration_page(const Fingerprint& fingerprint,
                               const experiments::Configuration& configuration) {
  using namespace pipeline;
  const data::Dataset& dataset = fingerprint.dataset;
  Rows unreadable = {{"case", "why it is skipped"}};
  for (const UnreadableCase& one : fingerprint.unreadable) unreadable.push_back({one.id, one.why});
  std::string histograms;
  try {
    const Picture picture = intensity_plot(fingerprint);
    if (!picture.svg.empty())
      histograms = html_figure(inline_svg(picture.svg, "intensities"),
                               "Histogram of foreground intensities: fraction of voxels per bin.");
  } catch (const NoGnuplot& error) {
    log::warn("the page was written without histograms: {}", error.what());
  }
  const experiments::Candidate& chosen = configuration.candidates[configuration.chosen];
  const std::string title = "Fingerprint of " + dataset.root.filename().string();
  const std::string summary =
      html_facts({{"folder", dataset.root.string()},
                  {"layout", dataset.recognised},
                  {"cases", std::to_string(dataset.cases.size())},
                  {"axes", axes_text(fingerprint)},
                  {"chosen", format("{} {}, batch {}", chosen.context, experiments::list_text(chosen.size),
                                    chosen.batch)},
                  {"training", format("{}, predicted {}", epochs_text(configuration),
                                      format_seconds(configuration.training_seconds))}});
  const std::string data =
      html_table(grids_rows(fingerprint)) + (unreadable.size() > 1 ? html_table(unreadable) : "");
  const std::string channels =
      format("<p>{}</p>\n", of_channels) + html_table(channels_rows(fingerprint)) + histograms;
  const std::string plan =
      html_table(candidate_rows(configuration)) + html_facts({{"device", configuration.device},
                                                              {"precision", configuration.precision},
                                                              {"costs", configuration.costs}});
  return html_page(title, format("<h1>{}</h1>\n", xml_escaped(title)) + summary +
                              html_section("cases", "Cases", data) +
                              html_section("channels", "Channels", channels) +
                              html_section("labels", "Labels", html_table(labels_rows(fingerprint))) +
                              html_section("candidates", "Candidates", plan) +
                              html_section("experiment", "Experiment",
                                           html_table(choice_rows(configuration, std::string::npos))));
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
  for (const CaseFingerprint& one : fingerprint.cases)
    json["fingerprint"].push_back(pipeline::to_json(one, dataset.modalities));
  for (const Candidate& one : configuration.candidates) json["candidates"].push_back(candidate_json(one));
  for (const experiments::Choice& choice : configuration.choices)
    json["experiment"][choice.key] = {{"value", choice.value}, {"why", choice.why}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace voxswap::cli
