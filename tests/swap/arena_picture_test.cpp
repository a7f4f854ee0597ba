// The picture of the arena: well formed, within its frame, small.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "net/steps/step.h"
#include "swap/plan/plan_report.h"
#include "swap/planners/planner.h"
#include "tests/swap/graphs.h"
#include "tests/swap/swapped_plan.h"
#include "tests/xml.h"

namespace voxswap::swap {
namespace {

using test::Element;
using test::Xml;

int count(const Xml& xml, const std::string& name, const std::string& word) {
  int result = 0;
  for (const Element& element : xml.elements()) result += element.name == name && element.is(word) ? 1 : 0;
  return result;
}

void expect_within_frame(const Xml& xml) {
  const double width = xml.elements().front().number("width"),
               height = xml.elements().front().number("height");
  ASSERT_GT(width, 100);
  for (const Element& e : xml.elements()) {
    if (e.name == "rect") {
      EXPECT_GE(e.number("x"), 0);
      EXPECT_GE(e.number("y"), 0);
      EXPECT_GT(e.number("width"), 0);
      EXPECT_GT(e.number("height"), 0);
      EXPECT_LE(e.number("x") + e.number("width"), width + 0.2);
      EXPECT_LE(e.number("y") + e.number("height"), height + 0.2);
    } else if (e.name == "text") {
      EXPECT_TRUE(e.number("x") > 0 && e.number("x") < width && e.number("y") > 0 && e.number("y") < height);
    }
  }
}

struct Drawn {
  test::SmallStep step;
  std::vector<std::int64_t> workspaces;
  Plan plan;
  explicit Drawn(const std::optional<test::SwapOptions>& options)
      : step(test::random_step(3, 14, {1, 8, 8, 5, 4})), workspaces(step.graph.nodes().size(), 3000) {
    plan = options ? test::swap_everything(step.graph, workspaces, step.kept, *options)
                   : make_plan("keep", {&step.graph, workspaces, {}, step.kept});
  }
  std::string svg() const { return arena_svg(step.graph, plan); }
};

TEST(ArenaPicture, IsWellFormedAndWithinItsFrameForEveryKindOfPlan) {
  for (const auto& options :
       {std::optional<test::SwapOptions>(), std::optional(test::SwapOptions{.chunk = 1024}),
        std::optional(test::SwapOptions{.disk = true, .recompute = true})}) {
    const std::string svg = Drawn(options).svg();
    const Xml xml(svg);
    ASSERT_TRUE(xml.good());
    EXPECT_EQ(xml.elements().front().name, "svg");
    expect_within_frame(xml);
  }
}

TEST(ArenaPicture, IsWellFormedForAGraphWithoutNodes) {
  const net::Graph graph;
  const std::string svg = arena_svg(graph, make_plan("keep", {&graph, {}, {}, {}}));
  EXPECT_TRUE(Xml(svg).good());
}

TEST(ArenaPicture, HasARectanglePerPlaceThatIsLargeEnoughToSee) {
  const Drawn drawn(test::SwapOptions{.recompute = true});
  std::map<std::string, int> places;
  for (const Residency& r : drawn.plan.residencies)
    if (r.value == net::none)
      ++places["w"];
    else if (drawn.step.graph.value(r.value).bytes() > 5000 && !drawn.step.graph.value(r.value).persistent())
      ++places["volume"];
  const std::string svg = drawn.svg();
  const Xml xml(svg);
  EXPECT_EQ(count(xml, "rect", "w"), places["w"] + 1) << "and one in the legend";
  const int volumes = count(xml, "rect", "s") + count(xml, "rect", "o") + count(xml, "rect", "r");
  EXPECT_GE(volumes, places["volume"]);
}

TEST(ArenaPicture, ShowsCopiesAndRepetitionsOnlyWhereThereAreAny) {
  const std::string keep = Drawn(std::nullopt).svg(),
                    swapped = Drawn(test::SwapOptions{.disk = true, .recompute = true}).svg();
  for (const char* row : {"swapped out", "swapped in", "to disk", "from disk", "recomputed"}) {
    EXPECT_EQ(Xml(keep).words().find(row), std::string::npos) << row;
    EXPECT_NE(Xml(swapped).words().find(row), std::string::npos) << row;
  }
}

TEST(ArenaPicture, DrawsTheBudgetWhereItCanBeSeenAndSaysWhenItIsAbove) {
  Drawn drawn(std::nullopt);
  EXPECT_EQ(count(Xml(drawn.svg()), "path", "budget"), 0);
  drawn.plan.budget_bytes = drawn.plan.peak_bytes + 64;
  EXPECT_EQ(count(Xml(drawn.svg()), "path", "budget"), 1);
  drawn.plan.budget_bytes = 100 * drawn.plan.peak_bytes;
  const std::string svg = drawn.svg();
  EXPECT_EQ(count(Xml(svg), "path", "budget"), 0);
  EXPECT_NE(svg.find("above this plot"), std::string::npos);
}

// As in the picture, a letter is 6.1 pixels wide and the frame 1200.
TEST(ArenaPicture, HasALegendThatEndsWithinTheFrame) {
  const test::StepToPlan small(test::step_of_side_16(), "cpu", 3000);
  const net::TrainingStep& step = small.step;
  Plan plan = test::swap_everything(step.graph, small.problem.workspaces, {step.loss}, {.recompute = true});
  // A gradient that is not swapped out, regardless of the others.
  for (std::size_t id = 0; id < step.graph.values().size(); ++id) {
    if (step.graph.values()[id].role != net::Role::gradient) continue;
    for (Instruction& instruction : plan.instructions)
      if (instruction.kind == Instruction::Kind::copy_out &&
          instruction.value == static_cast<net::ValueId>(id))
        instruction.kind = Instruction::Kind::copy_in;
    break;
  }
  const std::string svg = arena_svg(step.graph, plan);
  int found = 0;
  for (const std::string label :
       {"parameters and optimiser state", "kept until its last use", "gradient, kept", "swapped out and in",
        "recomputed", "workspace of a kernel", "sum of live values"}) {
    const std::size_t text = svg.find(" class=\"\">" + label + "</text>");
    if (text == svg.npos) continue;
    ++found;
    const double x = std::atof(svg.c_str() + svg.rfind("<text x=\"", text) + 9);
    EXPECT_LE(x + 6.1 * static_cast<double>(label.size()), 1200) << label;
  }
  EXPECT_GE(found, 6) << "so many that they do not fit on one line";
}

// A group per volume, with a line per residency, its class, and its name as tooltip.
TEST(ArenaPicture, GivesTheSlabsOfAVolumeOneShadeAndLetsThemLightUpTogether) {
  const test::StepToPlan small(test::step_of_side_16(/*slabs=*/4));
  const std::string svg =
      arena_svg(small.step.graph,
                test::swap_everything(small.step.graph, small.problem.workspaces, small.problem.kept, {}));
  ASSERT_TRUE(Xml(svg).good());
  EXPECT_NE(svg.find("encoder.0.input.conv[3], one of 4 slabs"), std::string::npos);
  std::set<std::string> volumes, shades;
  std::size_t in_slabs = 0;
  for (std::size_t begin = svg.find("<g>"); begin != svg.npos; begin = svg.find("<g>", begin + 1)) {
    std::set<std::string> names, classes;
    for (const std::string& place : split(svg.substr(begin, svg.find("</g>", begin) - begin), '\n')) {
      const std::size_t title = place.find("<title>"), shade = place.find(" t");
      if (title == place.npos) continue;
      names.insert(place.substr(title + 7, place.find_first_of("[,<", title + 7) - title - 7));
      classes.insert(shade < title ? place.substr(shade, 3) : "");
      in_slabs += place.find("one of") != place.npos ? 1 : 0;
    }
    EXPECT_EQ(names.size(), 1u) << svg.substr(begin, 500);
    EXPECT_EQ(classes.size(), 1u) << svg.substr(begin, 500);
    EXPECT_TRUE(volumes.insert(*names.begin()).second) << *names.begin() << " is in two groups";
    shades.insert(*classes.begin());
  }
  EXPECT_GT(in_slabs, 100u);
  EXPECT_EQ(shades.size(), 3u);
}

TEST(ArenaPicture, MarksWhereTheBackwardPassBegins) {
  const test::StepToPlan small(test::step_of_side_16());
  const Xml xml(arena_svg(small.step.graph, small.keep()));
  EXPECT_EQ(count(xml, "path", "turn"), 1);
  EXPECT_NE(xml.words().find("backward"), std::string::npos);
  EXPECT_EQ(count(Xml(Drawn(std::nullopt).svg()), "path", "turn"), 0) << "there is no backward pass";
}

TEST(ArenaPicture, EscapesNames) {
  net::Graph graph;
  const net::ValueId x = graph.add_value("x", {1, 2, 2, 2, 4}, net::ElementType::f32, net::Role::input);
  const net::ValueId y = graph.apply("sigmoid", "a<b & \"c\" \x01>d", {x});
  const std::string svg = arena_svg(graph, make_plan("keep", {&graph, {0}, {}, {y}}));
  const Xml xml(svg);
  EXPECT_TRUE(xml.good());
  EXPECT_NE(xml.words().find("a<b & \"c\"  >d"), std::string::npos) << "a space for what XML has no word for";
  EXPECT_EQ(svg.find("a<b"), std::string::npos);
}

TEST(ArenaPicture, StaysSmallForThousandsOfPlaces) {
  const test::SmallStep step = test::random_step(1, 3000);
  const std::vector<std::int64_t> workspaces(step.graph.nodes().size(), 64);
  const Plan plan = test::swap_everything(step.graph, workspaces, step.kept, {});
  ASSERT_GT(plan.residencies.size(), 10000u);
  const std::string svg = arena_svg(step.graph, plan);
  EXPECT_TRUE(Xml(svg).good());
  EXPECT_LT(svg.size(), 1u << 20);
}

}  // namespace
}  // namespace voxswap::swap
