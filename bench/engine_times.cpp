// Time of each plan that cuDNN offers for every convolution of isensee2017's training step (batch 1, 4
// channels, base 16, depth 5) on this GPU. CSV on standard output, one row as soon as it is measured.
//
//   engine_times [--taken] [--most N] [--seconds S] [--precision bf16|f16|f32] [--filters N] [--depth N]
//   [--slabs auto|N] SIDE...
//
// --taken: only the plan that deterministic training uses. --most: only the N convolutions of each side with
// the most arithmetic. --slabs: the convolutions of the step in slabs (memory.slabs), as parts of windows.
// --seconds: no measurement begins after this time. `error` is the largest distance of a checked element from
// its value in double, relative to the root of the sum of the squares of its terms. Exit code 1 if that
// of a plan used in training is too large, 3 if the time ran out.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "bench/engine_survey.h"
#include "net/steps/step.h"

namespace voxswap {
namespace {

struct Options {
  bool only_taken = false;
  std::size_t most = 1000;
  double seconds = 1e9;
  net::ElementType precision = net::ElementType::bf16;
  std::int64_t filters = 16, depth = 5, slabs = net::whole_volumes;
  std::vector<std::int64_t> sides;
};

struct Convolution {
  net::cuda::ConvolutionProblem problem;
  std::string node;  // the first one with this problem
  int nodes = 0;
};

// The convolutions of a step, those with the most arithmetic first.
std::vector<Convolution> convolutions(const Options& options, std::int64_t side) {
  net::StepOptions step;
  step.input = Shape{1, side, side, side, 4};
  step.voxel_alignment = net::cuda::voxel_alignment;
  step.activations = options.precision;
  step.network.base_filters = options.filters;
  step.network.depth = options.depth;
  step.slabs = options.slabs;
  step.sums_in_blocks = net::cuda::sums_in_blocks;
  const net::TrainingStep training = net::build_training_step(step);
  std::vector<Convolution> found;
  std::map<std::string, std::size_t> places;
  for (const net::Node& node : training.graph.nodes())
    for (const net::cuda::ConvolutionProblem& problem :
         net::cuda::convolution_problems(training.graph, node)) {
      if (net::cuda::is_matrix_product(problem)) continue;
      const auto [place, is_new] = places.try_emplace(problem.text(), found.size());
      if (is_new) found.push_back({problem, node.name, 0});
      ++found[place->second].nodes;
    }
  std::stable_sort(found.begin(), found.end(), [](const Convolution& a, const Convolution& b) {
    return a.nodes * a.problem.flops() > b.nodes * b.problem.flops();
  });
  if (found.size() > options.most) found.resize(options.most);
  return found;
}

// The tolerance for an engine that rounds as its precision implies; sums over whole volumes are the least
// exact.
double tolerance(net::ElementType type) {
  return type == net::ElementType::bf16 ? 4e-2 : 1e-2;
}

int measure(const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  bool ended = false, agrees = true;
  const auto more = [&] {
    ended = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > options.seconds;
    return !ended;
  };
  net::cuda::EngineSurvey survey(0);
  std::fprintf(stderr, "%s\n", survey.device().c_str());
  std::printf(
      "side,node,nodes,problem,engine,notes,in_order,taken,workspace_bytes,milliseconds,tflops,error,"
      "status\n");
  for (const std::int64_t side : options.sides) {
    for (const Convolution& each : convolutions(options, side)) {
      if (ended) break;
      survey.measure(each.problem, options.only_taken, more, [&](const net::cuda::EngineTime& time) {
        const double rate = time.milliseconds > 0 ? each.problem.flops() / time.milliseconds * 1e-9 : 0;
        std::printf("%lld,%s,%d,\"%s\",%s,%s,%s,%s,%lld,%.5g,%.4g,%.3g,%s\n", static_cast<long long>(side),
                    each.node.c_str(), each.nodes, each.problem.text().c_str(), time.choice.c_str(),
                    time.notes.c_str(), time.in_order ? "yes" : "no", time.taken ? "yes" : "no",
                    static_cast<long long>(time.workspace_bytes), time.milliseconds, rate, time.error,
                    time.status.c_str());
        std::fflush(stdout);
        if (!time.taken || (time.status == "ok" && time.error <= tolerance(options.precision))) return;
        agrees = false;
        std::fprintf(stderr, "%s, engine %s: %s, error %.3g\n", each.problem.text().c_str(),
                     time.choice.c_str(), time.status.c_str(), time.error);
      });
    }
  }
  if (ended) std::fprintf(stderr, "the time was over before the end\n");
  return !agrees ? 1 : (ended ? 3 : 0);
}

bool parse(int count, char** words, Options& options) {
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--taken") {
      options.only_taken = true;
    } else if (word.starts_with("--")) {
      if (++i == count) return false;
      const char* value = words[i];
      if (word == "--most")
        options.most = static_cast<std::size_t>(std::atoll(value));
      else if (word == "--seconds")
        options.seconds = std::atof(value);
      else if (word == "--precision")
        options.precision = net::parse_element_type(value);
      else if (word == "--filters")
        options.filters = std::atoll(value);
      else if (word == "--depth")
        options.depth = std::atoll(value);
      else if (word == "--slabs")
        options.slabs = value == std::string("auto") ? net::automatic_slabs : std::atoll(value);
      else
        return false;
    } else {
      options.sides.push_back(std::atoll(word.c_str()));
    }
  }
  return !options.sides.empty();
}

}  // namespace
}  // namespace voxswap

int main(int count, char** words) {
  voxswap::Options options;
  try {
    if (!voxswap::parse(count, words, options)) {
      std::fprintf(stderr,
                   "usage: engine_times [--taken] [--most N] [--seconds S] [--precision bf16|f16|f32] "
                   "[--filters N] [--depth N] [--slabs auto|N] SIDE...\n");
      return 2;
    }
    return voxswap::measure(options);
  } catch (const voxswap::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.exit());
  }
}
