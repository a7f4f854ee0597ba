// The bound over volumes against the same linear program solved elsewhere (tests/fixtures/volume_program.py,
// with SciPy's HiGHS), and what it knows that the other bounds do not.
#include "swap/model/volume_program.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>

#include "base/csv.h"
#include "base/text.h"
#include "net/graph/names.h"
#include "swap/model/relaxation.h"
#include "tests/swap/graphs.h"

namespace voxswap::swap {
namespace {

constexpr std::int64_t unit = 1024;  // bytes of a piece

// Operations on all pieces of volumes, one after the other, as the fixture has them.
struct Step {
  std::size_t pieces;
  net::Graph graph;
  CostModel costs;
  std::vector<std::vector<net::ValueId>> volumes{{}};

  explicit Step(std::size_t count) : pieces(count) {
    for (std::size_t i = 0; i < pieces; ++i)
      volumes.front().push_back(
          graph.add_value(name(0, i), {1, 4, 4, 4, 4}, net::ElementType::f32, net::Role::input));
  }

  std::string name(std::size_t volume, std::size_t piece) const {
    const std::string plain = "v" + std::to_string(volume);
    return pieces == 1 ? plain : net::piece_name(plain, piece);
  }

  void add(char letter, const std::vector<std::size_t>& reads, double seconds) {
    std::vector<net::ValueId> made;
    for (std::size_t i = 0; i < pieces; ++i) {
      std::vector<net::ValueId> inputs;
      for (const std::size_t volume : reads) inputs.push_back(volumes.at(volume)[i]);
      if (letter == 'w' && i + 1 < pieces) inputs.push_back(volumes.at(reads.front())[i + 1]);
      const net::Attributes f32 = {{"type", static_cast<double>(net::ElementType::f32)}};
      const bool sum = inputs.size() > 1;
      made.push_back(
          graph.apply(sum ? "add" : "cast", name(volumes.size(), i), inputs, sum ? net::Attributes{} : f32));
      costs.node_seconds.push_back(seconds / static_cast<double>(pieces));
    }
    volumes.push_back(std::move(made));
  }
  void add(const std::string& text) {
    const std::size_t colon = text.find(':');
    std::vector<std::size_t> reads;
    for (const std::string& read : split(text.substr(1, colon - 1), '+')) reads.push_back(std::stoul(read));
    add(text.front(), reads, std::stod(text.substr(colon + 1)));
  }

  void connect(double rate, double delay) {
    costs.to_host = costs.to_device = {rate * unit, rate * unit};
    costs.interference = delay / (rate * unit);
  }
  Needs needs() const {
    return find_needs(graph, std::vector<std::int64_t>(graph.nodes().size(), 0), volumes.back());
  }
  double bound(const Budgets& budgets) const {
    return volume_program_seconds(graph, needs(), costs.node_seconds, costs, budgets);
  }
  double compute() const {
    return std::accumulate(costs.node_seconds.begin(), costs.node_seconds.end(), 0.0);
  }
};

TEST(VolumeProgram, HasTheValueThatAnotherSolverFinds) {
  const Csv table = read_csv(VOXSWAP_SOURCE_DIR "/tests/fixtures/volume_program.csv");
  ASSERT_GE(table.rows.size(), 50u);
  int above_compute = 0;
  for (const auto& row : table.rows) {
    const auto value = [&](const char* name) { return std::stod(row[table.column(name, "fixture")]); };
    Step step(static_cast<std::size_t>(value("pieces")));
    for (const std::string& operation : split(row[table.column("operations", "fixture")], ' '))
      step.add(operation);
    step.connect(value("rate"), value("delay"));
    const std::int64_t host = value("movable") == 1 ? std::int64_t{1} << 40 : 0;
    const double bound = step.bound({static_cast<std::int64_t>(value("room")) * unit, host, 0});
    EXPECT_NEAR(bound, value("seconds"), 1e-6 * value("seconds"))
        << value("pieces") << " pieces: " << row[table.column("operations", "fixture")];
    above_compute += bound > 1.01 * step.compute();
  }
  EXPECT_GE(above_compute, 30);
}

// A chain of volumes, two of which fit, read again from its end: what is made again there is made of what is
// not there either, which a bound that takes its sources for granted does not see.
TEST(VolumeProgram, KnowsThatWhatIsMadeAgainNeedsWhatItIsMadeOf) {
  constexpr std::size_t pieces = 16, length = 12;
  Step step(pieces);
  for (std::size_t i = 0; i < length; ++i) step.add('c', {i}, 1);
  std::size_t gradient = length;
  for (std::size_t i = length; i-- > 0;) step.add('a', {gradient, i}, 1), gradient = step.volumes.size() - 1;
  step.connect(pieces / 100.0, 0);  // a volume takes 100 s
  const Budgets budgets{(2 * pieces + 2) * unit, std::int64_t{1} << 40, 0};
  const double relaxed =
      relaxed_seconds(step.graph, step.needs(), step.costs.node_seconds, step.costs, budgets, net::none);
  EXPECT_GT(step.bound(budgets), 1.5 * relaxed);
}

}  // namespace
}  // namespace voxswap::swap
