#include <algorithm>
#include <cmath>

#include "base/terminal.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/tables.h"
#include "pipeline/cases/patches.h"
#include "pipeline/report/tables.h"

namespace voxswap::cli {

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

std::string gigabytes_per_second(double rate) {
  return format("{:.2f} GB/s", rate / 1e9);
}

std::string bytes_both_ways(std::int64_t out, std::int64_t in) {
  return out + in == 0 ? "nothing" : format("{} out, {} in", format_bytes(out), format_bytes(in));
}

// Relative distance to the lower bound; "-" if there is no plan or the bound is unknown.
std::string above(double seconds, double bound) {
  return std::isfinite(bound) && bound > 0 ? format("{:.1f} %", 100 * (seconds / bound - 1)) : "-";
}

void add_memory(const swap::Plan& plan, const swap::Budgets& budgets, std::int64_t arena_bytes, Pairs& rows) {
  rows.push_back({"memory, peak", format_bytes(arena_bytes)});
  rows.push_back({"memory, budget", format_bytes(budgets.device)});
  const auto add_tier = [&](const char* name, std::int64_t used, std::int64_t budget) {
    if (used > 0) rows.push_back({name, format("{} of {}", format_bytes(used), format_bytes(budget))});
  };
  add_tier("host pool", plan.host_bytes, budgets.host);
  if (plan.streamed_bytes > 0)
    rows.push_back({"streamed", format("{} of inputs and outputs, in host memory in addition to the pool",
                                       format_bytes(plan.streamed_bytes))});
  add_tier("scratch file", plan.disk_bytes, budgets.disk);
}

void add_traffic(const swap::Plan& plan, Pairs& rows) {
  const swap::PlanTotals moved = swap::totals(plan);
  rows.push_back({"swapped per step", bytes_both_ways(moved.out_bytes, moved.in_bytes)});
  if (moved.disk_out_bytes + moved.disk_in_bytes > 0)
    rows.push_back({"swapped to disk", bytes_both_ways(moved.disk_out_bytes, moved.disk_in_bytes)});
  rows.push_back({"recomputed", counted(moved.recomputed_nodes, "node")});
}

std::string bound_text(const swap::Bound& bound, double seconds) {
  if (std::isnan(bound.seconds))
    return "unknown, because the costs are noisy. A longer run measures them again";
  if (!std::isfinite(bound.seconds)) return "none: no plan fits the budgets";
  return format("{}; optimality gap of this plan {}", exact_seconds(bound.seconds),
                above(seconds, bound.seconds));
}

Json ranks_figures(const pipeline::RanksForecast& ranks) {
  return {{"ranks", ranks.network.ranks * ranks.network.slabs},
          {"slabs", ranks.network.slabs},
          {"nodes", ranks.network.machines},
          {"network_gbps", ranks.network.rate / 1e9},
          {"step_seconds", ranks.step_seconds},
          {"alone_step_seconds", ranks.alone_seconds},
          {"exchange_seconds", ranks.exchange_seconds},
          {"exchanged_bytes", ranks.exchanged_bytes},
          {"halo_bytes", ranks.halo_bytes},
          {"exposed_seconds", ranks.exposed_seconds()},
          {"efficiency", ranks.efficiency()},
          {"limit", ranks.limit()}};
}

// nlohmann writes infinity as null, which here means that there is no value.
Json plan_figures(const swap::Plan& plan, const swap::Bound& bound) {
  const swap::PlanTotals moved = swap::totals(plan);
  return {{"planner", plan.planner},
          {"device_peak_bytes", plan.peak_bytes},
          {"host_bytes", plan.host_bytes},
          {"streamed_bytes", plan.streamed_bytes},
          {"disk_bytes", plan.disk_bytes},
          {"swapped_out_bytes", moved.out_bytes},
          {"swapped_in_bytes", moved.in_bytes},
          {"disk_out_bytes", moved.disk_out_bytes},
          {"disk_in_bytes", moved.disk_in_bytes},
          {"recomputed_nodes", moved.recomputed_nodes},
          {"predicted_step_seconds", plan.predicted_seconds},
          {"bound_step_seconds", bound.seconds},
          {"compute_seconds", bound.compute_seconds}};
}

Json step_figures(const pipeline::Forecast& forecast) {
  Json json = plan_figures(forecast.plan, forecast.bound);
  json.update(Json{{"device", forecast.device},
                   {"precision", forecast.precision},
                   {"slabs", forecast.slabs},
                   {"costs", forecast.costs},
                   {"parameters", forecast.parameters},
                   {"trained_parameters", forecast.trained},
                   {"arena_bytes", forecast.arena_bytes},
                   {"averaged_weights_bytes", forecast.averaged_weights_bytes},
                   {"step_flops", forecast.step_flops}});
  return json;
}

// "36 x 13.3 MiB: 24 on the device, 12 in host memory"
std::string resident_text(const pipeline::Forecast& forecast) {
  const std::int64_t cases = forecast.data.training_cases + forecast.data.validation_cases,
                     each = std::max<std::int64_t>(forecast.case_bytes, 1);
  const std::int64_t there = std::min(forecast.data.training_cases, forecast.device_cases_bytes / each);
  const std::int64_t here = std::min(cases - there, forecast.cases_bytes / each);
  std::vector<std::string> parts;
  if (there > 0) parts.push_back(format("{} on the device", there));
  if (here > 0) parts.push_back(format("{} in host memory", here));
  if (there + here < cases) parts.push_back(format("{} read in every epoch", cases - there - here));
  return format("{} x {}: {}", cases, format_bytes(forecast.case_bytes), join(parts, ", "));
}

}  // namespace

std::string exact_seconds(double seconds) {
  if (std::isnan(seconds)) return "not known";
  if (!std::isfinite(seconds)) return "none";
  if (seconds < 1) return format("{:.4g} ms", 1000 * seconds);
  return seconds < 60 ? format("{:.4g} s", seconds) : format_seconds(seconds);
}

std::string two_columns(const Pairs& rows) {
  std::size_t width = 0;
  for (const auto& [name, value] : rows) width = std::max(width, name.size());
  std::string text;
  const std::size_t columns = columns_of_output();
  for (const auto& [name, value] : rows)
    text += format("{:<{}}  {}\n", name, width, wrapped(value, columns, width + 2));
  return text;
}

// The part of all stages of growth and of the run itself.
std::int64_t with_growth(std::int64_t bytes, const Growth& growth,
                         std::int64_t experiments::StageForecast::*part) {
  for (const experiments::StageForecast& stage : growth) bytes += stage.*part;
  return bytes;
}

std::string forecast_table(const pipeline::Experiment& experiment, const pipeline::Forecast& forecast,
                           const Growth& growth) {
  const pipeline::DataShape& data = forecast.data;
  const std::int64_t cache =
                         with_growth(forecast.cache_bytes, growth, &experiments::StageForecast::cache_bytes),
                     output = with_growth(forecast.output_bytes, growth,
                                          &experiments::StageForecast::output_bytes);
  Pairs rows = {
      {"device", forecast.device},
      {"precision", forecast.precision},
      {"resolution", pipeline::resolution_text(experiment.preprocess.resolution)},
      {"slabs", forecast.slabs},
      {"parameters", experiment.network.frozen.empty()
                         ? std::to_string(forecast.parameters)
                         : format("{}, {} of them trainable", forecast.parameters, forecast.trained)},
      {"cases", data.found ? format("{} training, {} validation", data.training_cases, data.validation_cases)
                           : format("none: {} does not exist; {} and {} as set in the experiment",
                                    experiment.data.root.string(), counted(data.channels, "channel"),
                                    counted(data.outputs, "output"))},
  };
  if (experiment.training.patch)
    rows.insert(rows.begin() + 3, {"patch", pipeline::resolution_text(*experiment.training.patch)});
  add_memory(forecast.plan, forecast.budgets, forecast.arena_bytes, rows);
  if (forecast.averaged_weights_bytes > 0)
    rows.push_back(
        {"memory, averaged weights", format_bytes(forecast.averaged_weights_bytes) + " of host memory"});
  if (forecast.free_bytes > 0) rows.push_back({"memory, free now", format_bytes(forecast.free_bytes)});
  if (data.found) {
    rows.push_back({"disk, prepared volumes", experiment.cache.empty() ? "none" : format_bytes(cache)});
    rows.push_back({"memory, prepared volumes", resident_text(forecast)});
    rows.push_back({"disk, run", "about " + format_bytes(output)});
  }
  add_traffic(forecast.plan, rows);
  rows.push_back({"operations per step", format("{:.1f} GFLOP", forecast.step_flops / 1e9)});
  rows.push_back({"costs", forecast.costs});
  const double step = forecast.plan.predicted_seconds;
  rows.push_back({"time per step", exact_seconds(step) + ", predicted"});
  rows.push_back({"lower bound", bound_text(forecast.bound, step)});
  rows.push_back({"compute time", exact_seconds(forecast.bound.compute_seconds)});
  if (data.found) {
    const double epoch = pipeline::epoch_seconds(forecast, experiment);
    rows.push_back({"time per epoch", "about " + format_seconds(epoch) + ", without validation"});
    if (data.validation_cases > 0)
      rows.push_back(
          {"time per validation",
           format("about {} for {}", format_seconds(pipeline::validation_seconds(forecast, experiment)),
                  counted(data.validation_cases, "case"))});
    const auto epochs = static_cast<double>(experiment.training.epochs * experiment.training.repeats);
    for (const experiments::StageForecast& stage : growth)
      rows.push_back(
          {"growth", format("{} at {}, about {} in {}", counted(stage.experiment.training.epochs, "epoch"),
                            pipeline::resolution_text(pipeline::input_size(stage.experiment)),
                            format_seconds(stage.seconds()), format_bytes(stage.memory_bytes))});
    rows.push_back({"total time", format("about {} for all epochs, without validation",
                                         format_seconds(epoch * epochs + experiments::seconds_of(growth)))});
  }
  return two_columns(rows);
}

Json run_forecast_json(const pipeline::Experiment& experiment, const pipeline::Forecast& forecast,
                       const Growth& growth) {
  const pipeline::DataShape& data = forecast.data;
  Json json = step_figures(forecast);
  json.update(Json{{"budget_bytes", forecast.budgets.device}, {"free_bytes", forecast.free_bytes}});
  if (!data.found) return json;
  const double epoch = pipeline::epoch_seconds(forecast, experiment);
  json.update(Json{
      {"training_cases", data.training_cases},
      {"validation_cases", data.validation_cases},
      {"cache_bytes", with_growth(forecast.cache_bytes, growth, &experiments::StageForecast::cache_bytes)},
      {"case_bytes", forecast.case_bytes},
      {"cases_bytes", forecast.cases_bytes},
      {"device_cases_bytes", forecast.device_cases_bytes},
      {"output_bytes", with_growth(forecast.output_bytes, growth, &experiments::StageForecast::output_bytes)},
      {"epoch_seconds", epoch},
      {"validation_seconds", pipeline::validation_seconds(forecast, experiment)},
      {"seconds", epoch * static_cast<double>(experiment.training.epochs * experiment.training.repeats) +
                      experiments::seconds_of(growth)}});
  for (const experiments::StageForecast& stage : growth)
    json["growth"].push_back({{"input", pipeline::resolution_text(pipeline::input_size(stage.experiment))},
                              {"epochs", stage.experiment.training.epochs},
                              {"epoch_seconds", stage.epoch_seconds},
                              {"seconds", stage.seconds()},
                              {"arena_bytes", stage.memory_bytes}});
  return json;
}

std::string forecast_json(const std::string& plan, const pipeline::Forecast& forecast,
                          const std::optional<pipeline::RanksForecast>& ranks) {
  Json json = step_figures(forecast);
  if (ranks) json["ranks"] = ranks_figures(*ranks);
  Json whole = checked_json(plan);
  whole["forecast"] = json;
  return whole.dump(1) + "\n";
}

std::string forecast_figures_json(const pipeline::Forecast& forecast, const swap::Simulation& simulation,
                                  const swap::Sharing& sharing,
                                  const std::optional<pipeline::RanksForecast>& ranks) {
  const swap::PlanTotals moved = swap::totals(forecast.plan);
  const auto rate = [&](swap::Lane lane, std::int64_t bytes) {
    const double busy = simulation.busy_seconds[static_cast<std::size_t>(lane)];
    return busy > 0 ? static_cast<double>(bytes) / busy / 1e9 : 0;
  };
  Json json = plan_figures(forecast.plan, forecast.bound);
  json.update(Json{{"overhead", simulation.seconds / forecast.bound.compute_seconds},
                   {"devices", sharing.devices},
                   {"devices_per_link", sharing.devices_per_link},
                   {"simulated_step_seconds", simulation.seconds},
                   {"utilization", simulation.utilization()},
                   {"stall_seconds", simulation.stall_seconds},
                   {"to_host_gbps", rate(swap::Lane::to_host, moved.out_bytes)},
                   {"to_device_gbps", rate(swap::Lane::to_device, moved.in_bytes)},
                   {"precision", forecast.precision},
                   {"device", forecast.device},
                   {"costs", forecast.costs}});
  if (ranks) json["ranks"] = ranks_figures(*ranks);
  return json.dump(2) + "\n";
}

std::string ranks_text(const pipeline::RanksForecast& ranks) {
  const swap::Network& network = ranks.network;
  std::string where = network.machines == 1 ? "one machine" : counted(network.machines, "machine");
  if (network.machines > 1) where += format(", {} between machines", gigabytes_per_second(network.rate));
  return two_columns(
      {{"ranks", format("{}{} on {}; {} within a machine, {:.0f} us per message; simulated",
                        network.slabs == 1 ? std::to_string(network.ranks) : counted(network.ranks, "group"),
                        network.slabs == 1 ? "" : format(" of {} that share each volume", network.slabs),
                        where, gigabytes_per_second(network.local_rate), 1e6 * network.message_seconds)},
       {"time per step", format("{} ({} on a single rank)", exact_seconds(ranks.step_seconds),
                                exact_seconds(ranks.alone_seconds))},
       {"communication",
        format("{} in {}, {} not overlapped with computation", format_bytes(ranks.exchanged_bytes),
               exact_seconds(ranks.exchange_seconds), exact_seconds(ranks.exposed_seconds()))},
       {"halos", format("{} sent", format_bytes(ranks.halo_bytes))},
       {"efficiency", format("{:.2f} %", 100 * ranks.efficiency())},
       {"limited by", ranks.limit()}});
}

std::string sharing_text(const swap::Simulation& simulation, const swap::Sharing& sharing) {
  return two_columns(
      {{"devices in parallel",
        format("{}, {} per link; simulated", sharing.devices, sharing.devices_per_link)},
       {"time per step", exact_seconds(simulation.seconds)},
       {"kernel utilisation", format("{:.1f} % of the step", 100 * simulation.utilization())}});
}

std::string comparison_table(const std::vector<pipeline::PlannerRow>& rows, const swap::Bound& bound) {
  std::vector<std::vector<std::string>> cells = {
      {"planner", "device", "host", "disk", "out", "in", "recomputed", "step", "vs. keep", "gap"}};
  std::string reasons;
  for (const pipeline::PlannerRow& row : rows) {
    if (!row.plan) {
      cells.push_back({row.planner, "does not fit", "-", "-", "-", "-", "-", "-", "-", "-"});
      reasons += format("\n{}: {}\n", row.planner, row.why_not);
      continue;
    }
    const swap::Plan& plan = *row.plan;
    const swap::PlanTotals moved = swap::totals(plan);
    cells.push_back({row.planner, format_bytes(plan.peak_bytes), format_bytes(plan.host_bytes),
                     format_bytes(plan.disk_bytes), format_bytes(moved.out_bytes),
                     format_bytes(moved.in_bytes), std::to_string(moved.recomputed_nodes),
                     exact_seconds(plan.predicted_seconds),
                     format("{:.3f}", plan.predicted_seconds / bound.compute_seconds),
                     above(plan.predicted_seconds, bound.seconds)});
  }
  return table(cells) +
         format(
             "\nstep: predicted time; vs. keep: step relative to keeping everything ({}); gap: step above "
             "the lower bound ({})\n",
             exact_seconds(bound.compute_seconds), exact_seconds(bound.seconds)) +
         reasons;
}

std::string comparison_json(const std::vector<pipeline::PlannerRow>& rows, const swap::Bound& bound) {
  Json json = Json::array();
  for (const pipeline::PlannerRow& row : rows) {
    Json entry = row.plan ? plan_figures(*row.plan, bound) : Json{{"planner", row.planner}};
    entry["fits"] = row.plan.has_value();
    if (!row.plan) entry["why_not"] = row.why_not;
    json.push_back(entry);
  }
  return json.dump(2) + "\n";
}

std::string benchmark_table(const pipeline::Benchmark& b) {
  const metrics::BoxStatistics& seconds = b.step_seconds;
  const double steps = static_cast<double>(b.steps.seconds.size());
  Pairs rows = {
      {"device", b.device}, {"precision", b.precision}, {"slabs", b.slabs}, {"planner", b.plan.planner}};
  add_memory(b.plan, {b.plan.budget_bytes, b.plan.host_budget_bytes, b.plan.disk_budget_bytes}, b.arena_bytes,
             rows);
  add_traffic(b.plan, rows);
  if (b.to_host_rate + b.to_device_rate > 0)
    rows.push_back(
        {"copy rates", format("{} to the host, {} to the device", gigabytes_per_second(b.to_host_rate),
                              gigabytes_per_second(b.to_device_rate))});
  rows.push_back({"steps", format("{} after a warm-up step", b.steps.seconds.size())});
  rows.push_back({"step, median",
                  format("{} (mean {}, quartiles {} and {})", exact_seconds(seconds.median),
                         exact_seconds(seconds.mean), exact_seconds(seconds.q1), exact_seconds(seconds.q3))});
  rows.push_back(
      {"predicted", format("{}; measured / predicted {:.3f}", exact_seconds(b.plan.predicted_seconds),
                           seconds.median / b.plan.predicted_seconds)});
  rows.push_back({"lower bound", std::isfinite(b.bound.seconds)
                                     ? format("{}; measured / bound {:.3f}", exact_seconds(b.bound.seconds),
                                              seconds.median / b.bound.seconds)
                                     : exact_seconds(b.bound.seconds)});
  rows.push_back(
      {"compute time", format("{}; measured / compute {:.3f}", exact_seconds(b.bound.compute_seconds),
                              seconds.median / b.bound.compute_seconds)});
  rows.push_back({"mean stall per step", format("{}", exact_seconds(b.steps.stall_seconds / steps))});
  rows.push_back({"megavoxels per second", format("{:.4g}", b.megavoxels_per_second)});
  rows.push_back({"arithmetic", format("{:.1f} GFLOP per step, {:.4g} TFLOP/s", b.step_flops / 1e9,
                                       b.step_flops / seconds.median / 1e12)});
  rows.push_back({"memory traffic", format("{:.2f} GB per step, {}", b.step_bytes / 1e9,
                                           gigabytes_per_second(b.step_bytes / seconds.median))});
  rows.push_back({"costs", b.costs});
  return two_columns(rows);
}

std::string benchmark_json(const pipeline::Benchmark& b) {
  const double steps = static_cast<double>(b.steps.seconds.size());
  Json json = plan_figures(b.plan, b.bound);
  json.update(Json{{"device", b.device},
                   {"precision", b.precision},
                   {"slabs", b.slabs},
                   {"costs", b.costs},
                   {"arena_bytes", b.arena_bytes},
                   {"steps", b.steps.seconds.size()},
                   {"step_seconds_mean", b.step_seconds.mean},
                   {"step_seconds_median", b.step_seconds.median},
                   {"step_seconds_q1", b.step_seconds.q1},
                   {"step_seconds_q3", b.step_seconds.q3},
                   {"step_cpu_seconds_mean", b.cpu_seconds},
                   {"measured_over_predicted", b.step_seconds.median / b.plan.predicted_seconds},
                   {"overhead", b.step_seconds.median / b.bound.compute_seconds},
                   {"utilization", b.steps.compute_seconds / (steps * b.step_seconds.mean)},
                   {"stall_seconds", b.steps.stall_seconds / steps},
                   {"megavoxels_per_second", b.megavoxels_per_second},
                   {"step_flops", b.step_flops},
                   {"step_bytes", b.step_bytes},
                   {"to_host_gbps", b.to_host_rate / 1e9},
                   {"to_device_gbps", b.to_device_rate / 1e9}});
  if (b.epoch) json["epoch"] = epoch_figures(*b.epoch);
  return json.dump(2) + "\n";
}

}  // namespace voxswap::cli
