// Compares volumes in slabs with whole volumes: single operations, and whole steps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/text.h"
#include "net/graph/operation.h"
#include "net/graph/window.h"
#include "tests/conformance/cases/cases.h"
#include "tests/net/cut_run.h"
#include "tests/net/every_network.h"

namespace voxswap::net {
namespace {

constexpr StepContext context{.seed = 7, .step = 3, .learning_rate = 1e-2};

// Whether an input of a case is a volume that can be split, not weights.
bool is_volume(const Operation& operation, const OperationCase& example, std::size_t input) {
  const Shape& shape = example.inputs[input].shape;
  const Cut& cut = operation.cut;
  if (cut.window != nullptr) return cut.reads_window(input) || static_cast<int>(input) == cut.along;
  const Shape& first = example.inputs[0].shape;
  return shape.rank() >= 4 && shape[1] == first[1] && shape[2] == first[2] && shape[3] == first[3];
}

// A graph of one node. Inputs that are not volumes come first, like parameters in a step.
struct OneNode {
  Graph graph;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;

  OneNode(const Operation& operation, const OperationCase& example, ElementType type) {
    using Input = OperationCase::Input::Kind;
    const ElementType full = type == ElementType::f64 ? ElementType::f64 : ElementType::f32;
    inputs.resize(example.inputs.size());
    for (const bool volumes : {false, true})
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (is_volume(operation, example, i) != volumes) continue;
        const Input kind = example.inputs[i].kind;
        const ElementType element = kind == Input::bits    ? ElementType::u8
                                    : kind == Input::twice ? ElementType::f64
                                    : kind == Input::full  ? full
                                                           : type;
        inputs[i] = graph.add_value("input" + std::to_string(i), example.inputs[i].shape, element,
                                    volumes ? Role::input : Role::parameter);
      }
    outputs = graph.node(graph.add(operation.name, "node", inputs, example.attributes)).outputs;
  }
};

double largest(const std::vector<double>& values) {
  double result = 0;
  for (const double value : values) result = std::max(result, std::abs(value));
  return result;
}

struct Outputs {
  std::vector<std::vector<double>> values;
  bool was_cut = false;
};

Outputs run_cut(const Operation& operation, const OperationCase& example, ElementType type, Backend& backend,
                std::int64_t planes) {
  OneNode whole(operation, example, type);
  sum_in_blocks(whole.graph);
  const CutGraph cut = cut_into_slabs(whole.graph, planes);
  GraphRun run(cut.graph, backend);
  for (std::size_t i = 0; i < whole.inputs.size(); ++i)
    set(run, cut, whole.graph, whole.inputs[i], contents(example.inputs[i], i));
  run.run(context);
  EXPECT_EQ(run.broken_guards(), std::vector<std::string>{});
  Outputs outputs;
  for (const ValueId id : whole.outputs) outputs.values.push_back(get(run, cut, whole.graph, id));
  outputs.was_cut = cut.graph.values().size() > whole.graph.values().size();
  return outputs;
}

// Every case of every operation whose volumes can be split, in slabs of two and four planes (of the largest
// volume): halos as wide as slabs, shorter last slabs.
TEST(Slabs, GiveWhatTheWholeVolumesGiveInDouble) {
  const auto backend = make_backend("reference");
  std::set<std::string_view> cut;
  for (const Operation* operation : operations()) {
    if (operation->cut.kind == Cut::Kind::whole) continue;
    for (const OperationCase& example : cases_of(operation->name)) {
      const Outputs whole = run_cut(*operation, example, ElementType::f64, *backend, whole_volumes);
      for (const std::int64_t planes : {2, 4}) {
        SCOPED_TRACE(format("{}, {}, {} planes", operation->name, example.name, planes));
        const Outputs slabs = run_cut(*operation, example, ElementType::f64, *backend, planes);
        if (slabs.was_cut) cut.insert(operation->name);
        for (std::size_t i = 0; i < whole.values.size(); ++i) {
          ASSERT_EQ(slabs.values[i].size(), whole.values[i].size());
          const double scale = largest(whole.values[i]);
          for (std::size_t k = 0; k < whole.values[i].size(); ++k)
            ASSERT_NEAR(slabs.values[i][k], whole.values[i][k], 1e-13 * scale) << k;
        }
      }
    }
  }
  for (const Operation* operation : operations()) {
    EXPECT_EQ(cut.contains(operation->name), operation->cut.kind != Cut::Kind::whole) << operation->name;
  }
}

// Whether an operation must give the same bits in slabs as on whole volumes. On the CPU, some convolutions
// are computed by a library without this guarantee; the reference rounds a sum to f32 once, not in every
// block.
bool gives_the_same_bits(const Operation& operation, const std::string& backend, ElementType type) {
  const Cut::Kind kind = operation.cut.kind;
  if (kind == Cut::Kind::planewise || kind == Cut::Kind::summed) return true;
  if (kind == Cut::Kind::windowed_sum)
    return make_backend(backend)->sums_in_blocks(type) && backend != "reference";
  return kind == Cut::Kind::windowed && (backend == "reference" || !operation.name.starts_with("conv3d"));
}

// Sums over planes add planes, or blocks of them, in a fixed order, so slabs do not change the result.
TEST(Slabs, GiveTheSameBitsButInConvolutionsOfALibrary) {
  for (const std::string name : {"reference", "onednn"}) {
    const auto backend = make_backend(name);
    for (const ElementType type : {ElementType::f32, ElementType::bf16})
      for (const Operation* operation : operations()) {
        if (name == "reference" && type != ElementType::f32) continue;  // the same loops, slowly
        if (!gives_the_same_bits(*operation, name, type)) continue;
        for (const OperationCase& example : cases_of(operation->name)) {
          const Outputs whole = run_cut(*operation, example, type, *backend, whole_volumes);
          for (const std::int64_t planes : {2, 4}) {
            SCOPED_TRACE(
                format("{} {} {}, {}, {}", name, element_name(type), operation->name, example.name, planes));
            EXPECT_TRUE(run_cut(*operation, example, type, *backend, planes).values == whole.values);
          }
        }
      }
  }
}

TEST(Slabs, OfAWeightGradientTakeTheFlopsOfTheWhole) {
  const Operation& operation = find_operation("conv3d_weight_gradient");
  const OperationCase& example = cases_of(operation.name)[2];
  ASSERT_EQ(example.name, "odd channels, unequal sides");
  OneNode whole(operation, example, ElementType::f32);
  sum_in_blocks(whole.graph);
  const CutGraph cut = cut_into_slabs(whole.graph, 4);
  ASSERT_GT(cut.graph.nodes().size(), whole.graph.nodes().size());
  double flops = 0;
  for (const Node& node : cut.graph.nodes())
    if (node.operation->inner != nullptr) flops += node_flops(cut.graph, node);
  EXPECT_DOUBLE_EQ(flops, node_flops(whole.graph, whole.graph.node(0)));
}

// Their window is copied as a whole, so that weights are rearranged once.
TEST(Slabs, OfAVolumeSmallerThanItsWeightsGiveTheSameBits) {
  using Kind = OperationCase::Input::Kind;
  const OperationCase example{"3x3x3: 64 to 64",
                              {{{1, 8, 4, 4, 64}}, {{64, 64, 3, 3, 3}, Fill::normal, Kind::full}},
                              {{"stride", 1}, {"padding", 1}},
                              {}};
  const auto backend = make_backend("onednn");
  for (const ElementType type : {ElementType::f32, ElementType::bf16}) {
    const auto run = [&](std::int64_t planes) {
      return run_cut(find_operation("conv3d"), example, type, *backend, planes);
    };
    EXPECT_TRUE(run(4).was_cut);
    EXPECT_TRUE(run(4).values == run(whole_volumes).values) << element_name(type);
  }
}

// The image is the finest resolution if its volumes are not small: 3 channels there are more than a quarter
// of 16 channels at half the sides.
TEST(Slabs, OfImagesAreRows) {
  StepOptions options;
  options.network = {.name = "deeplabv3", .base_filters = 16, .dropout = 0};
  options.input = {2, 1, 70, 50, 3};
  options.loss = loss_options(Loss::softmax_cross_entropy);
  options.slabs = 16;
  const TrainingStep step = build_training_step(options);
  std::vector<Shape> shapes;
  for (const ValueId id : step.input) shapes.push_back(step.graph.value(id).shape);
  const Shape full = {2, 16, 1, 50, 3};
  EXPECT_THAT(shapes, testing::ElementsAre(full, full, full, full, Shape{2, 6, 1, 50, 3}));
  EXPECT_EQ(slabs_text(step.graph), "5 of 16 planes");
}

// Planes of the image's slabs.
std::vector<std::int64_t> planes_of_image(std::int64_t side, std::int64_t planes,
                                          ElementType activations = ElementType::f32) {
  StepOptions options;
  options.activations = activations;
  options.input = {1, side, side, side, 4};
  options.slabs = planes;
  const TrainingStep step = build_training_step(options);
  std::vector<std::int64_t> result;
  for (const ValueId id : step.input) result.push_back(step.graph.value(id).shape[1]);
  return result;
}

// 16 channels in f32: a plane of 64^2 has 256 KiB, one of 160^2 1.6 MiB.
TEST(Slabs, FollowFromShapesAndTheOneNumberAlone) {
  using Planes = std::vector<std::int64_t>;
  EXPECT_EQ(planes_of_image(64, automatic_slabs), Planes{64}) << "64 MiB are not large";
  EXPECT_EQ(planes_of_image(160, automatic_slabs), (Planes{40, 40, 40, 40})) << "64 MiB are 40.96 planes";
  EXPECT_EQ(planes_of_image(512, automatic_slabs), Planes(32, 16)) << "a 32nd of 8 GiB is 256 MiB";
  for (const ElementType type : {ElementType::f32, ElementType::bf16})
    EXPECT_EQ(planes_of_image(640, automatic_slabs, type), Planes(80, 8)) << "2^26 numbers are 10.24 planes";
  EXPECT_EQ(planes_of_image(1024, automatic_slabs), Planes(128, 8)) << "a 128th of 64 GiB";
  EXPECT_EQ(planes_of_image(160, whole_volumes), Planes{160});
  EXPECT_EQ(planes_of_image(64, 24), (Planes{24, 24, 16}));
  EXPECT_EQ(planes_of_image(64, 13), (Planes{14, 14, 14, 14, 8})) << "planes come in blocks of two";
  EXPECT_EQ(planes_of_image(32, 9), (Planes{10, 10, 10, 2}));
  EXPECT_EQ(planes_of_image(640, 4), Planes(80, 8)) << "of up to eight in large volumes";
  EXPECT_EQ(planes_of_image(64, 64), Planes{64});
}

TEST(Slabs, AreFewerInTheStepThatIsSearchedFirst) {
  const auto slabs = [](std::int64_t side, std::int64_t planes) {
    StepOptions options;
    options.input = {1, side, side, side, 4};
    options.slabs = planes;
    const auto step = build_training_step(options);
    return slabs_text(step.graph) + ", " +
           (step.in_fewer_slabs ? slabs_text(*step.in_fewer_slabs) : "as many");
  };
  EXPECT_EQ(slabs(144, 2), "36 of 4 planes, as many");
  EXPECT_EQ(slabs(64, 2), "32 of 2 planes, as many");
  EXPECT_EQ(slabs(256, 2), "64 of 4 planes, 16 of 16 planes");
}

// Small steps are not split, although volumes inside a network have more bytes than its image.
TEST(Slabs, ThatAreAutomaticAreNoneOfASmallStep) {
  for (const std::string& network : network_names()) {
    StepOptions options;
    options.network.depth = 3;
    options.input = {1, 32, 32, 32, 3};
    options = suited(options, network);
    EXPECT_EQ(slabs_text(build_training_step(options).graph), "none") << network;
  }
}

TEST(Slabs, OfOtherVolumesHaveAsManyBytesOrStayWhole) {
  StepOptions options;
  options.input = {1, 64, 64, 64, 4};
  options.slabs = 8;
  const TrainingStep step = build_training_step(options);
  const std::int64_t slab = 8 * 64 * 64 * 16 * 4;
  std::int64_t most = 0;
  for (const Value& value : step.graph.values())
    if (value.shape.rank() == 5 && value.shape[0] == 1 && !value.persistent())  // weights are larger
      most = std::max(most, value.bytes());
  EXPECT_EQ(most, slab);
}

// Nodes that read a parameter after its update in the same step. A step must read the values of the previous
// step.
std::vector<std::string> late_readers(const Graph& graph) {
  std::vector<bool> updated(graph.values().size());
  std::vector<std::string> names;
  for (const Node& node : graph.nodes()) {
    for (const ValueId id : node.inputs)
      if (updated[static_cast<std::size_t>(id)]) names.push_back(node.name);
    for (const ValueId id : node.updates) updated[static_cast<std::size_t>(id)] = true;
  }
  return names;
}

TEST(Slabs, OfOperationsReadNoParameterThatWasUpdatedBefore) {
  for (const std::string& network : network_names())
    for (const std::int64_t small : {0, 32, 4096})
      for (const std::int64_t planes : {2, 8}) {
        StepOptions options;
        options.network.depth = 3;
        options.input = {1, 32, 16, 16, 4};
        options = suited(options, network);
        options.optimizer.small_parameter = small;
        options.slabs = planes;
        EXPECT_THAT(late_readers(build_training_step(options).graph), testing::IsEmpty())
            << network << ", slabs of " << planes << " planes, small parameters have up to " << small;
      }
}

// Values that depend on a parameter can be recomputed until it is updated. Slabs have 2 MiB here, and the
// gradients of the second level's weights take a sixteenth of that. Updates of deeper levels do not wait.
TEST(Slabs, DelayUpdatesOfSmallGradientsToTheEnd) {
  StepOptions options;
  options.input = {1, 64, 64, 64, 4};
  options.slabs = 8;
  const std::int64_t little = 8 * 64 * 64 * 16 * 4 / 16;
  const Graph graph = build_training_step(options).graph;
  std::vector<bool> waited;
  bool all_else_is_done = true;
  for (std::size_t i = graph.nodes().size(); i-- > 0;) {
    const Node& node = graph.nodes()[i];
    all_else_is_done = all_else_is_done && node.phase == Phase::update;
    if (node.phase != Phase::update || node.name == "small.update") continue;
    EXPECT_EQ(all_else_is_done, graph.value(node.inputs[0]).bytes() <= little) << node.name;
    waited.push_back(all_else_is_done);
  }
  EXPECT_THAT(waited, testing::Contains(true));
  EXPECT_THAT(waited, testing::Contains(false));
}

StepOptions small_step(ElementType type, const std::string& network = "isensee2017") {
  StepOptions options;
  options.network.name = network;
  options.network.depth = 3;
  options.network.base_filters = 4;
  options.network.dropout = 0.3;
  options.input = {1, 20, 8, 12, 2};
  options.activations = type;
  options.loss = {.dice = 1, .cross_entropy = 1};
  if (has_levels(network)) options.network.deep_supervision = {1, 0.5};
  if (network == "plain_unet") {  // no taps along the depth above the second level
    options.network.kernels = {{3, 3, 1}, {3, 3, 3}};
    options.network.strides = {{1, 1, 1}, {2, 2, 1}, {2, 2, 2}};
  }
  if (!takes_images(network)) return options;
  options.network.depth = 1;
  options.input = {2, 1, 44, 37, 2};
  options.loss = loss_options(Loss::softmax_cross_entropy);
  return options;
}

Trained train(const StepOptions& options, std::int64_t planes, Backend& backend, int steps) {
  StepOptions whole_options = options, cut_options = options;
  whole_options.slabs = whole_volumes;
  cut_options.slabs = planes;
  const TrainingStep whole = build_training_step(whole_options), step = build_training_step(cut_options);
  const CutGraph cut = cut_into_slabs(whole.graph, planes);
  EXPECT_EQ(step.graph.text(), cut.graph.text());
  GraphRun run(step.graph, backend);
  begin(run, step, 3);
  const ValueId input = whole.input[0], target = whole.target[0];
  set(run, cut, whole.graph, input, filled(whole.graph, input, Fill::normal, 1));
  set(run, cut, whole.graph, target,
      filled(whole.graph, target, options.loss.classes ? Fill::classes : Fill::bits, 2));
  return train(run, step, steps);
}

// Several bytes per voxel, on all levels: for labels, and for many classes.
TEST(CutTargets, OfSeveralBytesTrainAsWholeOnesDo) {
  for (const auto& [outputs, loss] :
       {std::pair{11, Loss::dice_cross_entropy}, {300, Loss::softmax_dice_cross_entropy}}) {
    const auto backend = make_backend("reference");
    StepOptions options = small_step(ElementType::f64, "plain_unet");
    options.outputs = outputs;
    options.loss = loss_options(loss);
    const Trained whole = train(options, whole_volumes, *backend, 1), slabs = train(options, 2, *backend, 1);
    SCOPED_TRACE(outputs);
    expect_near(slabs, whole, 1e-12, 1e-9);
  }
}

class CutNetwork : public testing::TestWithParam<std::string> {};

TEST_P(CutNetwork, TrainsAsTheWholeOneDoesInDouble) {
  const auto backend = make_backend("reference");
  const StepOptions options = small_step(ElementType::f64, GetParam());
  const Trained whole = train(options, whole_volumes, *backend, 2), slabs = train(options, 2, *backend, 2);
  expect_near(slabs, whole, 1e-12, 1e-9);
}

// On a CPU the library computes one-tap convolutions, except some with AVX2; for these shapes it gives the
// same bits.
TEST_P(CutNetwork, TrainsToTheSameBitsInSlabsOfAnySize) {
  const auto backend = make_backend("onednn");
  for (const ElementType type : {ElementType::f32, ElementType::bf16}) {
    if (!backend->sums_in_blocks(type)) continue;
    const StepOptions options = small_step(type, GetParam());
    const Trained whole = train(options, whole_volumes, *backend, 2);
    for (const std::int64_t planes : {2, 4, 10}) {
      const Trained slabs = train(options, planes, *backend, 2);
      EXPECT_EQ(slabs.losses, whole.losses) << element_name(type) << ", " << planes;
      EXPECT_TRUE(slabs.weights == whole.weights) << element_name(type) << ", " << planes;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Slabs, CutNetwork,
                         testing::Values("isensee2017", "unet3d", "plain_unet", "resenc_unet", "resnet3d",
                                         "resnet18", "resnet50", "deeplabv3"),
                         [](const testing::TestParamInfo<std::string>& parameter) {
                           return parameter.param;
                         });

}  // namespace
}  // namespace voxswap::net
