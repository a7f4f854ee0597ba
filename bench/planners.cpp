// Compares planners: the simulated time of the isensee2017 step (4 channels, 3 labels, batch 1) under each
// planner's plan, on devices described by their published rates, with links of 12 and 64 GB/s. Nothing runs:
// steps are simulated from estimated node times, without kernel workspaces. CSV on standard output.
//
//   planners grid [SIDE ...] [PLANNER ...]
//     144^3 to 768^3, f32 and half precision, V100 and H200, 16 and 32 GiB; all sides and planners, or those
//     named
//   planners study
//     192^3 in f32 on the published study's V100, 1 to 8 of them at once
//   planners cell DEVICE GB/S f32|half SIDE GIB [PLANNER [PIECES]]
//     one cell with slabs of PIECES planes, and where its time goes: per twentieth of the step; what is
//     recomputed
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "bench/where_time_goes.h"
#include "net/steps/step.h"
#include "swap/model/bound.h"
#include "swap/model/simulator.h"
#include "swap/planners/planner.h"

namespace voxswap {
namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;
constexpr std::int64_t host_budget = 300 * gib;  // what the study's group used for 320^3

struct Cell {
  std::string device;
  double link = 0;  // bytes/s each way
  net::ElementType type = net::ElementType::f32;
  std::int64_t side = 0, budget = 0;
  std::int64_t slabs = net::whole_volumes;  // memory.slabs
};

net::TrainingStep training_step(const Cell& cell) {
  const std::int64_t side = cell.side;
  net::StepOptions options;
  options.input = Shape{1, side, side, side, 4};
  options.activations = cell.type;
  options.voxel_alignment = swap::find_device_rates(cell.device).voxel_alignment;
  options.sums_in_blocks = swap::find_device_rates(cell.device).sums_in_blocks;
  options.slabs = cell.slabs;
  return net::build_training_step(options);
}

// A graph with costs and budgets, the same for all planners of a cell.
struct Problem {
  Cell cell;
  net::TrainingStep step;
  swap::CostModel costs;
  swap::StepProblem request;
  double keep_seconds = 0;
  swap::Bound bound;

  explicit Problem(const Cell& of) : cell(of), step(training_step(of)) {
    swap::DeviceRates device = swap::find_device_rates(cell.device);
    device.link_rate = cell.link;
    costs = swap::estimate_costs(step.graph, device);
    request.graph = &step.graph;
    request.workspaces.assign(step.graph.nodes().size(), 0);
    request.budgets = {cell.budget, host_budget, 0};
    request.kept = {step.loss};
    request.costs = &costs;
    request.in_fewer_slabs = step.in_fewer_slabs ? &*step.in_fewer_slabs : nullptr;
    for (const double seconds : costs.node_seconds) keep_seconds += seconds;
    bound = swap::lower_bound(step.graph, request.workspaces, request.kept, costs, request.budgets);
  }
  Problem(const Problem&) = delete;
};

struct Outcome {
  bool fits = false;
  swap::Plan plan;
  double planning_seconds = 0;
};

Outcome plan(const Problem& problem, const std::string& planner) {
  Outcome outcome;
  const auto start = std::chrono::steady_clock::now();
  try {
    outcome.plan = swap::make_plan(planner, problem.request);
    outcome.fits = true;
  } catch (const Error& error) {
    if (error.exit() != Exit::does_not_fit) throw;
  }
  outcome.planning_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return outcome;
}

std::string cell_columns(const Cell& cell) {
  return format("{},{:g},{},{},{}", cell.device, cell.link / 1e9,
                cell.type == net::ElementType::f32 ? "f32" : "half", cell.side, cell.budget / gib);
}

// `keep_seconds`: the time of the step on whole volumes, also for steps in slabs.
void print_grid_row(const Problem& problem, const std::string& planner, const Outcome& outcome,
                    double keep_seconds) {
  std::string moved = "nan,nan,nan,nan";
  double seconds = NAN;
  if (outcome.fits) {
    const swap::Simulation simulation = swap::simulate(outcome.plan, problem.costs);
    const swap::PlanTotals sums = swap::totals(outcome.plan);
    seconds = simulation.seconds;
    moved = format("{},{},{},{:.6f}", sums.out_bytes, sums.in_bytes, sums.recomputed_nodes,
                   simulation.stall_seconds);
  }
  fmt::print("{},{},{},{:.6f},{:.6f},{:.4f},{:.6f},{:.4f},{},{:.3f},{}\n", cell_columns(problem.cell),
             planner, outcome.fits ? "yes" : "no", seconds, keep_seconds, seconds / keep_seconds,
             problem.bound.seconds, seconds / problem.bound.seconds, moved, outcome.planning_seconds,
             net::slabs_text(problem.step.graph));
  std::fflush(stdout);
}

// Prints the step on whole volumes; if it exceeds 1.10 of its bound, the step in slabs if that is shorter.
void print_grid_rows(const Cell& cell, const std::vector<std::string>& planners) {
  Cell cut = cell;
  cut.slabs = net::automatic_slabs;
  const Problem whole(cell), in_slabs(cut);
  for (const std::string& planner : planners) {
    const Outcome outcome = plan(whole, planner);
    const double seconds = outcome.plan.predicted_seconds;
    if (outcome.fits && seconds <= 1.10 * whole.bound.seconds) {
      print_grid_row(whole, planner, outcome, whole.keep_seconds);
      continue;
    }
    const Outcome other = plan(in_slabs, planner);
    const bool better = other.fits && (!outcome.fits || other.plan.predicted_seconds < seconds);
    print_grid_row(better ? in_slabs : whole, planner, better ? other : outcome, whole.keep_seconds);
  }
}

void grid(const std::vector<std::int64_t>& sides, const std::vector<std::string>& planners) {
  fmt::print(
      "device,link_gbps,precision,side,budget_gib,planner,fits,seconds,keep_seconds,overhead,bound,gap,"
      "out_bytes,in_bytes,recomputed,stall_seconds,planning_seconds,slabs\n");
  for (const char* device : {"v100", "h200"})
    for (const double link : {12e9, 64e9})
      for (const net::ElementType type : {net::ElementType::f32, net::ElementType::bf16})
        for (const std::int64_t side : sides)
          for (const std::int64_t budget : {16 * gib, 32 * gib})
            if (budget == 16 * gib || side >= 384)
              print_grid_rows({device, link, type, side, budget}, planners);
}

// The study's machines (docs/results/study.md): the number of GPUs used at once, of GPUs per link, the link's
// rate each way, and the seconds per epoch at 192^3 and, without swapping, at 144^3.
struct StudyRow {
  const char* machine;
  swap::Sharing sharing;
  double link, epoch_seconds, epoch_seconds_144;
};
constexpr StudyRow study_rows[] = {
    {"x86", {1, 1}, 12e9, 1467, 216},  {"x86", {4, 1}, 12e9, 1506, 216},  {"x86", {6, 2}, 12e9, 1858, 216},
    {"x86", {8, 2}, 12e9, 2076, 216},  {"AC922", {1, 1}, 64e9, 590, 197}, {"AC922", {4, 1}, 64e9, 600, 197},
    {"AC922", {6, 1}, 45e9, 676, 197},
};

// The planners compared with the study. "tflms all" swaps every tensor that is read more than a level later
// and loads it a level ahead, like the defaults of TFLMS v1 (n_tensors -1, lb 1). The budget is the card's 16
// GiB or, if tight, what 144^3 needs without swapping: as tight for this graph as the card was for the
// study's framework, which kept more per voxel.
struct StudyPlanner {
  const char* name;
  const char* planner;
  bool tight;
  swap::TflmsOptions tflms;
};
const StudyPlanner study_planners[] = {{"keep", "keep", false, {}},
                                       {"tflms", "tflms", false, {}},
                                       {"tflms all", "tflms", false, {1, 1, 0, 0}},
                                       {"lms-threshold", "lms-threshold", false, {}},
                                       {"tflms", "tflms", true, {}},
                                       {"checkpoint", "checkpoint", true, {}},
                                       {"hybrid", "hybrid", true, {}}};

void study() {
  fmt::print(
      "machine,devices,devices_per_link,link_gbps,budget_bytes,planner,fits,seconds,per_voxel_over_144,"
      "study_per_voxel_over_144,utilization,out_bytes,in_bytes,recomputed\n");
  const Problem small({"v100-study", 12e9, net::ElementType::f32, 144, 0});
  const std::int64_t tight = swap::make_plan("keep", small.request).peak_bytes;
  const double voxels = std::pow(192.0 / 144.0, 3);
  for (const StudyPlanner& candidate : study_planners)
    for (const StudyRow& row : study_rows) {
      const std::int64_t budget = candidate.tight ? tight : 16 * gib;
      const Problem alone({"v100-study", row.link, net::ElementType::f32, 192, budget});
      // Planned with the device's share of the link while all devices use it.
      Problem problem(
          {"v100-study", row.link / row.sharing.devices_per_link, net::ElementType::f32, 192, budget});
      problem.request.tflms = candidate.tflms;
      const Outcome outcome = plan(problem, candidate.planner);
      swap::Simulation simulation;
      if (outcome.fits) simulation = swap::simulate(outcome.plan, alone.costs, row.sharing);
      const double seconds = outcome.fits ? simulation.seconds : NAN;
      const swap::PlanTotals sums = swap::totals(outcome.plan);
      fmt::print("{},{},{},{:g},{},{},{},{:.6f},{:.4f},{:.4f},{:.4f},{},{},{}\n", row.machine,
                 row.sharing.devices, row.sharing.devices_per_link, row.link / 1e9, problem.cell.budget,
                 candidate.name, outcome.fits ? "yes" : "no", seconds, seconds / small.keep_seconds / voxels,
                 row.epoch_seconds / row.epoch_seconds_144 / voxels,
                 outcome.fits ? simulation.utilization() : NAN, sums.out_bytes, sums.in_bytes,
                 sums.recomputed_nodes);
      std::fflush(stdout);
    }
}

void cell(std::span<char*> words) {
  const std::optional<double> link = parse_number<double>(words[1]);
  const std::optional<std::int64_t> side = parse_number<std::int64_t>(words[3]),
                                    budget = parse_number<std::int64_t>(words[4]);
  const std::string precision = words[2];
  if (!link || !side || !budget || (precision != "f32" && precision != "half"))
    fail(Exit::usage, "planners cell DEVICE GB/S f32|half SIDE GIB [PLANNER [PIECES]]");
  const net::ElementType type = precision == "f32" ? net::ElementType::f32 : net::ElementType::bf16;
  const std::optional<std::int64_t> planes =
      words.size() > 6 ? parse_number<std::int64_t>(words[6]) : net::automatic_slabs;
  if (!planes) fail(Exit::usage, "PIECES: a number of planes");
  const Problem problem({words[0], *link * 1e9, type, *side, *budget * gib, *planes});
  const Outcome outcome = plan(problem, words.size() > 5 ? words[5] : "hybrid");
  if (!outcome.fits) fail(Exit::does_not_fit, "no plan of this planner is within the budget");
  fmt::print("{}: {} nodes, {} instructions, planned in {:.1f} s\n", cell_columns(problem.cell),
             problem.step.graph.nodes().size(), outcome.plan.instructions.size(), outcome.planning_seconds);
  print_where_time_goes(problem.step.graph, outcome.plan, problem.costs, problem.bound);
}

int run(int count, char** words) {
  const std::string what = count > 1 ? words[1] : "";
  if (what == "cell" && count >= 7) {
    cell(std::span(words, static_cast<std::size_t>(count)).subspan(2));
    return 0;
  }
  std::vector<std::string> planners;
  std::vector<std::int64_t> sides;
  for (const std::string word : std::span(words, static_cast<std::size_t>(count)).subspan(std::min(count, 2)))
    if (const std::optional<std::int64_t> side = parse_number<std::int64_t>(word))
      sides.push_back(*side);
    else
      planners.push_back(word);
  if (planners.empty()) planners = swap::planner_names();
  if (sides.empty()) sides = {144, 192, 256, 320, 384, 448, 512, 640, 768};
  if (what == "grid")
    grid(sides, planners);
  else if (what == "study" && count == 2)
    study();
  else
    fail(Exit::usage,
         "planners grid [SIDE ...] [PLANNER ...] | planners study | planners cell DEVICE GB/S f32|half "
         "SIDE GIB [PLANNER [PIECES]]");
  return 0;
}

}  // namespace
}  // namespace voxswap

int main(int count, char** words) {
  try {
    return voxswap::run(count, words);
  } catch (const voxswap::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.exit());
  }
}
