// voxswap plan: plans the memory of a training step without running it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>

#include "base/file.h"
#include "base/outputs.h"
#include "base/standard_streams.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/describe.h"
#include "cli/options.h"
#include "cli/tables.h"
#include "pipeline/plan/forecast.h"
#include "swap/model/simulator.h"
#include "swap/plan/plan_report.h"

namespace voxswap::cli {

namespace {

struct PlanArguments {
  ExperimentArguments where;
  CommonOptions common;
  pipeline::ForecastOptions how;
  bool all = false, resolution = false, batch = false, depth = false;
  swap::Sharing sharing;
  int ranks = 0, machines = 1, slabs = 0;  // 0: not set
  std::string network, within;
  std::string out;
  bool force = false;

  std::vector<pipeline::Dimension> dimensions() const {
    std::vector<pipeline::Dimension> result;
    if (resolution) result.push_back(pipeline::Dimension::resolution);
    if (batch) result.push_back(pipeline::Dimension::batch);
    if (depth) result.push_back(pipeline::Dimension::depth);
    return result;
  }
};

void declare(CLI::App& app, PlanArguments& arguments) {
  add_experiment(app, arguments.where);
  app.add_flag("--all", arguments.all, "Compare all planners");
  app.add_flag("--max-resolution", arguments.resolution, "Find the largest preprocess.resolution that fits");
  app.add_flag("--max-batch", arguments.batch, "Find the largest training.batch_size that fits");
  app.add_flag("--max-depth", arguments.depth, "Find the largest network.depth that fits");
  app.add_flag("--estimate", arguments.how.estimate, "Plan with typical costs instead of measured ones");
  add_as(app, arguments.how.as,
         "Device to plan for, with its published rates, instead of the one of this machine");
  const auto count = CLI::Range(1, 1024);
  app.add_option("--devices", arguments.sharing.devices,
                 "Number of devices on one host that run the step in parallel (simulated)")
      ->capture_default_str()
      ->check(count);
  app.add_option("--devices-per-link", arguments.sharing.devices_per_link,
                 "Number of devices that share a link to the host")
      ->capture_default_str()
      ->check(count);
  app.add_option("--ranks", arguments.ranks, "Number of ranks that train together (default: 1, or --slabs)")
      ->check(CLI::Range(1, 65536));
  app.add_option("--slabs", arguments.slabs, "Number of ranks that share each volume (ranks.slabs)")
      ->check(CLI::Range(1, 65536));
  app.add_option("--nodes", arguments.machines, "Number of machines for --ranks")
      ->capture_default_str()
      ->check(CLI::Range(1, 65536));
  app.add_option("--network", arguments.network,
                 "Rate between two machines, or ranks of one machine: 12.5GB/s, nvlink, pcie or ib");
  app.add_option("--within", arguments.within,
                 "Rate between two ranks of a machine (default: that of the link to the host)");
  app.add_option("--out", arguments.out, "Folder for forecast.json, plan.json, arena.svg and timeline.json");
  add_force(app, arguments.force);
  add_common(app, arguments.common, true);
}

// Rates per direction: NVLink 4 of an H100, PCI Express 5 with 16 lanes, InfiniBand NDR.
double rate_of(const std::string& text) {
  if (text == "nvlink") return 450e9;
  if (text == "pcie") return 64e9;
  return text == "ib" ? 50e9 : parse_rate(text);
}

// The network between the ranks; nullopt for a single rank.
std::optional<swap::Network> network_of(const PlanArguments& arguments) {
  if (arguments.ranks == 1) {
    if (arguments.machines > 1 || !arguments.network.empty() || !arguments.within.empty())
      fail(Exit::usage, "--nodes, --network and --within need --ranks above 1");
    return std::nullopt;
  }
  if (arguments.all) fail(Exit::usage, "--ranks plans with memory.planner. It cannot be combined with --all");
  if (arguments.ranks % arguments.machines != 0)
    fail(Exit::usage, "--nodes: {} cannot be divided equally among {}", counted(arguments.ranks, "rank"),
         counted(arguments.machines, "machine"));
  if (arguments.machines > 1 && arguments.network.empty())
    fail(Exit::usage, "--network: the rate between {} is missing. Set it, e.g. --network 12.5GB/s",
         counted(arguments.machines, "machine"));
  swap::Network network;
  network.ranks = arguments.ranks;
  network.machines = arguments.machines;
  if (!arguments.network.empty())
    (network.machines == 1 ? network.local_rate : network.rate) =
        value_of("--network", [&] { return rate_of(arguments.network); });
  if (!arguments.within.empty())
    network.local_rate = value_of("--within", [&] { return rate_of(arguments.within); });
  network.message_seconds = swap::usual_message_seconds;
  return network;
}

// Files in --out: for a search of the largest size, or for a plan.
std::vector<fs::path> files_of(const PlanArguments& arguments) {
  if (arguments.out.empty()) return {};
  const fs::path folder = arguments.out;
  if (!arguments.dimensions().empty()) return {folder / "largest.json"};
  return {folder / "forecast.json", folder / "plan.json", folder / "arena.svg", folder / "timeline.json"};
}

void write_plan(const Outputs& outputs, const std::vector<fs::path>& files,
                const pipeline::StepForecast& step, const pipeline::Forecast& prediction,
                const std::optional<pipeline::RanksForecast>& ranks, const swap::Sharing& sharing) {
  make_writable_directory(files.front().parent_path());
  const swap::Plan& plan = prediction.plan;
  const swap::Simulation simulation = swap::simulate(plan, step.costs(), sharing);
  const std::vector<std::string> contents = {
      forecast_figures_json(prediction, simulation, sharing, ranks), swap::plan_json(step.graph(), plan),
      swap::arena_svg(step.graph(), plan),
      swap::timeline_json(step.graph(), plan, simulation.begin, simulation.end)};
  for (std::size_t i = 0; i < files.size(); ++i)
    outputs.write(files[i], [&] { write_file(files[i], contents[i]); });
}

void print_largest(const PlanArguments& arguments, const Outputs& outputs,
                   const pipeline::Experiment& experiment, const pipeline::DataShape& data) {
  std::vector<pipeline::Largest> all;
  for (const pipeline::Dimension dimension : arguments.dimensions()) {
    auto found = pipeline::find_largest(experiment, arguments.how.ranks, data, arguments.how.as, dimension);
    if (!arguments.common.json) print(largest_text(found));
    std::move(found.begin(), found.end(), std::back_inserter(all));
  }
  if (arguments.common.json) print_exactly(largest_json(all));
  for (const fs::path& file : files_of(arguments)) {
    make_writable_directory(file.parent_path());
    outputs.write(file, [&] { write_file(file, largest_json(all)); });
  }
}

void print_comparison(const PlanArguments& arguments, const pipeline::StepForecast& step) {
  const std::vector<pipeline::PlannerRow> rows = pipeline::compare_planners(step);
  const swap::Bound bound = step.bound();
  if (arguments.common.json) {
    print_exactly(comparison_json(rows, bound));
    return;
  }
  const swap::Budgets& budgets = step.budgets();
  print("{}\n", two_columns({{"device", step.target().description()},
                             {"precision", std::string(net::element_name(step.target().precision))},
                             {"budgets", format("device {}, host {}, disk {}", format_bytes(budgets.device),
                                                format_bytes(budgets.host), format_bytes(budgets.disk))},
                             {"costs", step.costs().source}}));
  print(comparison_table(rows, bound));
}

void print_plan(const PlanArguments& arguments, const experiments::LoadedExperiment& experiment,
                const pipeline::StepForecast& step, const pipeline::Forecast& prediction,
                const std::optional<pipeline::RanksForecast>& ranks) {
  if (arguments.common.json)
    return print_exactly(forecast_json(swap::plan_json(step.graph(), prediction.plan), prediction, ranks));
  const Growth growth = experiments::forecast_growth(experiment, prediction.data, arguments.how);
  print("{}\n{}", swap::plan_text(step.graph(), prediction.plan),
        forecast_table(experiment, prediction, growth));
  if (arguments.sharing.devices > 1)
    print(sharing_text(swap::simulate(prediction.plan, step.costs(), arguments.sharing), arguments.sharing));
  if (ranks) print(ranks_text(*ranks));
}

}  // namespace

Exit plan_command(const Arguments& words) {
  CLI::App app(
      "Plan the memory of a training step without training: peak, swapped and recomputed values, step time "
      "and lower bound. Needs no data set if the experiment sets data.modalities and data.labels.",
      "voxswap plan");
  PlanArguments arguments;
  declare(app, arguments);
  if (!parse(app, words, arguments.common)) return Exit::done;

  if (arguments.all && !arguments.dimensions().empty())
    fail(Exit::usage,
         "--all compares planners for one size. It cannot be combined with --max-resolution, --max-batch or "
         "--max-depth, which use memory.planner alone");
  if (!arguments.out.empty()) check_output_folder(arguments.out);
  const std::vector<fs::path> files = files_of(arguments);
  Outputs outputs(arguments.force);
  outputs.protect(arguments.where.file);
  for (const fs::path& file : files) outputs.check(file);
  if (arguments.slabs > 0) arguments.where.overrides.push_back(format("ranks.slabs={}", arguments.slabs));
  const experiments::LoadedExperiment experiment = load(arguments.where);
  if (arguments.ranks == 0) arguments.ranks = static_cast<int>(std::max<std::int64_t>(experiment.slabs, 1));
  arguments.how.network = network_of(arguments);
  const std::unique_ptr<net::Ranks> planned =
      pipeline::planned_ranks(arguments.ranks, static_cast<int>(experiment.slabs));
  if (arguments.how.network) arguments.how.ranks = {*planned, experiment.slabs};
  pipeline::check_ranks(experiment, arguments.how.ranks);
  const pipeline::DataShape data = pipeline::data_shape(experiment);
  if (!arguments.dimensions().empty()) {
    print_largest(arguments, outputs, experiment, data);
    return Exit::done;
  }
  const pipeline::StepForecast step(experiment, data, arguments.how);
  if (arguments.all) print_comparison(arguments, step);
  if (arguments.all && arguments.out.empty()) return Exit::done;
  const pipeline::Forecast prediction = pipeline::forecast(step, data, experiment);
  std::optional<pipeline::RanksForecast> ranks;
  if (arguments.how.network)
    ranks = pipeline::forecast_ranks(step, prediction, experiment, data, arguments.how);
  if (!arguments.all) print_plan(arguments, experiment, step, prediction, ranks);
  if (!arguments.out.empty()) write_plan(outputs, files, step, prediction, ranks, arguments.sharing);
  return Exit::done;
}

}  // namespace voxswap::cli
