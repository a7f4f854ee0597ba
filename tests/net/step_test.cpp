// Whole steps: the values kept for the backward pass, and the order of nodes.
#include "net/steps/step.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "net/graph/operation.h"
#include "tests/expect.h"
#include "tests/net/every_network.h"
#include "tests/net/training.h"

namespace voxswap::net {
namespace {

using test::contains;

StepOptions small(ElementType type = ElementType::bf16) {
  StepOptions options;
  options.network = {.base_filters = 4, .depth = 3};
  options.input = {1, 8, 8, 12, 2};
  options.activations = type;
  return options;
}

// The error message, or an empty string.
std::string refusal_of(const StepOptions& options) {
  return test::error_of([&] { build_training_step(options); }, Exit::usage);
}

void expect_order_is_valid(const Graph& graph) {
  std::set<ValueId> made;
  for (std::size_t i = 0; i < graph.values().size(); ++i)
    if (graph.values()[i].role == Role::input || graph.values()[i].persistent())
      made.insert(static_cast<ValueId>(i));
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    for (ValueId input : node.inputs) EXPECT_TRUE(made.contains(input)) << node.name;
    for (ValueId output : node.outputs) {
      EXPECT_TRUE(made.insert(output).second) << node.name << " makes a value that is there already";
      EXPECT_EQ(graph.value(output).producer, static_cast<NodeId>(i));
    }
  }
}

TEST(TrainingStep, ReadsOnlyWhatWasMadeBefore) {
  for (const std::string& name : network_names()) {
    expect_order_is_valid(build_training_step(suited(small(), name)).graph);
  }
}

TEST(TrainingStep, SavesNothingThatItsGradientsDoNotRead) {
  const Graph graph = build_training_step(small(ElementType::f32)).graph;
  for (const Node& node : graph.nodes()) {
    if (node.phase != Phase::backward) continue;
    for (ValueId input : node.inputs) {
      const NodeId producer = graph.value(input).producer;
      if (producer == none || graph.node(producer).phase != Phase::forward) continue;
      const std::string_view made_by = graph.node(producer).operation->name, reader = node.operation->name;
      if (made_by == "norm_activation" || made_by == "upsample_nearest") {
        EXPECT_EQ(reader, "conv3d_weight_gradient") << node.name;
      } else if (made_by == "conv3d" || made_by == "conv3d_sum") {
        EXPECT_TRUE(reader == "norm_activation_sums" || reader == "norm_activation_gradient") << node.name;
      }
    }
  }
}

// The node that updates each persistent value. Fails if one is updated twice or read afterwards.
std::map<ValueId, std::size_t> updates_of(const Graph& graph) {
  std::map<ValueId, std::size_t> updated_at;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    for (ValueId id : node.updates) EXPECT_TRUE(updated_at.emplace(id, i).second);
    for (ValueId id : node.inputs) EXPECT_FALSE(updated_at.contains(id)) << node.name;
  }
  return updated_at;
}

TEST(TrainingStep, UpdatesEachTrainedParameterOnceAfterItsLastReader) {
  const TrainingStep step = build_training_step(small());
  EXPECT_EQ(updates_of(step.graph).size(), step.trained.size() + step.optimizer_state.size());
}

// For encoder.0.input.conv and similar: no gradient and no moments. The heads have no norm.
TEST(TrainingStep, KeepsNoMomentsOfABiasInFrontOfANorm) {
  const TrainingStep step = build_training_step(small());
  const std::set<ValueId> trained(step.trained.begin(), step.trained.end());
  EXPECT_EQ(step.optimizer_state.size(), 2 * trained.size());
  for (const ValueId id : step.parameters) {
    const std::string& name = step.graph.value(id).name;
    EXPECT_EQ(trained.contains(id), !name.ends_with("conv.bias") || name.starts_with("head.")) << name;
  }
  for (const Node& node : step.graph.nodes()) {
    if (node.operation->name != "conv3d_weight_gradient") continue;
    EXPECT_EQ(node.attributes.flag("bias"), node.name.starts_with("head.")) << node.name;
  }
}

// No gradient for it, no values needed only by its gradient, no moments.
TEST(TrainingStep, MakesNothingForWhatIsFrozen) {
  StepOptions options = small();
  options.network.frozen = {"encoder"};
  const TrainingStep whole = build_training_step(small()), step = build_training_step(options);
  EXPECT_EQ(step.parameters, whole.parameters);
  EXPECT_EQ(step.optimizer_state.size(), 2 * step.trained.size());
  for (const ValueId id : step.trained) EXPECT_FALSE(step.graph.value(id).name.starts_with("encoder"));
  std::size_t of_encoder = 0;
  for (const Node& node : step.graph.nodes()) {
    of_encoder += node.name.starts_with("encoder") ? 1 : 0;
    EXPECT_TRUE(node.phase != Phase::backward || !node.name.starts_with("encoder")) << node.name;
  }
  EXPECT_GT(of_encoder, 0U);
  EXPECT_LT(step.graph.nodes().size(), whole.graph.nodes().size() * 3 / 4);
}

TEST(TrainingStep, NeverUpdatesTheStatisticsOfAFrozenNorm) {
  StepOptions options = suited(small(ElementType::f32), "resnet18");
  options.network.frozen = {"bn1.weight", "bn1.bias", "bn1.running_var", "layer1"};
  const TrainingStep step = build_training_step(options);
  std::set<std::string> updated;
  for (const Node& node : step.graph.nodes())
    for (const ValueId id : node.updates) updated.insert(step.graph.value(id).name);
  for (const std::string& name : updated)
    EXPECT_FALSE(name.starts_with("bn1.") || name.starts_with("layer1.")) << name;
  EXPECT_TRUE(updated.contains("layer2.0.bn1.running_mean"));
}

TEST(TrainingStep, RefusesToFreezeWhatIsNotThereOrAll) {
  const auto refusal = [](const std::vector<std::string>& frozen) {
    StepOptions options = small();
    options.network.frozen = frozen;
    return refusal_of(options);
  };
  EXPECT_EQ(refusal({"encode"}),
            "training.freeze: 'encode' is neither a parameter of isensee2017 nor the beginning of one. Its "
            "parts are encoder, decoder, head");
  EXPECT_EQ(refusal({"*"}),
            "training.freeze: isensee2017 would have nothing left to train. Leave out one of its parts: "
            "encoder, decoder, head");
  for (const char* good : {"encoder.0", "encoder.0.input.conv.weight", "*.norm", "dec*.conv.bias"})
    EXPECT_EQ(refusal({good}), "") << good;
}

TEST(TrainingStep, UpdatesLargeParametersWhileOthersAreStillDifferentiatedAndSmallOnesTogether) {
  StepOptions options;
  options.input = {1, 16, 16, 16, 4};
  const TrainingStep step = build_training_step(options);
  const std::vector<Node>& nodes = step.graph.nodes();
  std::size_t last_backward = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].phase == Phase::backward) last_backward = i;
  const std::map<ValueId, std::size_t> updated_at = updates_of(step.graph);
  std::set<std::size_t> together;
  std::int64_t waiting = 0;  // bytes of gradients
  for (const ValueId id : step.trained) {
    const Value& parameter = step.graph.value(id);
    const std::size_t at = updated_at.at(id);
    if (parameter.shape.count() <= options.optimizer.small_parameter) {
      together.insert(at);
      waiting += parameter.bytes();
    } else {
      EXPECT_LT(at, last_backward) << parameter.name;
      EXPECT_EQ(nodes[at].updates.size(), 3u) << parameter.name;
    }
  }
  EXPECT_EQ(together.size(), 1u);
  EXPECT_LT(waiting, 64 << 10);
}

TEST(Steps, HoldPersistentValuesFirstAndInTheSameOrder) {
  const TrainingStep training = build_training_step(small());
  const InferenceStep inference = build_inference_step(small(), false);
  EXPECT_EQ(training.parameters, inference.parameters);
  for (std::size_t i = 0; i < training.parameters.size(); ++i) {
    const Value& parameter = training.graph.value(training.parameters[i]);
    EXPECT_EQ(training.parameters[i], static_cast<ValueId>(i));
    EXPECT_EQ(parameter.name, inference.graph.value(inference.parameters[i]).name);
  }
  for (std::size_t i = 0; i < training.trained.size(); ++i) {
    const Value& parameter = training.graph.value(training.trained[i]);
    for (std::size_t moment : {0u, 1u}) {
      const ValueId state = training.optimizer_state[2 * i + moment];
      EXPECT_EQ(state, static_cast<ValueId>(training.parameters.size() + 2 * i + moment));
      EXPECT_EQ(training.graph.value(state).name, parameter.name + (moment == 0 ? ".m" : ".v"));
      EXPECT_EQ(training.graph.value(state).shape, parameter.shape);
    }
  }
}

// Two steps on the reference backend, with an image that is padded with zero channels if the alignment
// requires it.
Trained trained_on_an_image_aligned_to(std::int64_t voxel_alignment) {
  StepOptions options = small(ElementType::f32);
  options.voxel_alignment = voxel_alignment;
  const TrainingStep step = build_training_step(options);
  const auto backend = make_backend("reference");
  GraphRun run(step.graph, *backend);
  begin(run, step, 3);
  run.set(step.input[0], filled(step.graph, step.input[0], Fill::normal, 1));
  run.set(step.target[0], filled(step.graph, step.target[0], Fill::bits, 2));
  return train(run, step, 2, 1e-2);
}

TEST(TrainingStep, LearnsTheSameFromAnImageWithZerosBehindItsChannels) {
  EXPECT_TRUE(trained_on_an_image_aligned_to(1) == trained_on_an_image_aligned_to(16));
}

// The image that convolutions read: "input", or "input.padded".
Shape read_image(const Graph& graph) {
  Shape read;
  for (const Value& value : graph.values())
    if (value.name == "input" || value.name == "input.padded") read = value.shape;
  return read;
}

TEST(Steps, MakeTheImageAsWideAsTheAlignmentAsksAndKeepInputAndParametersAsTheyAre) {
  // Two channels: 8 bytes in f32, 4 in bf16.
  for (const auto& [type, alignment, channels] : {std::tuple{ElementType::f32, 16, 4},
                                                  {ElementType::bf16, 16, 8},
                                                  {ElementType::f32, 8, 2},
                                                  {ElementType::bf16, 1, 2},
                                                  {ElementType::f32, 24, 6}}) {
    for (const std::string& name : network_names()) {
      StepOptions options = suited(small(type), name);
      options.voxel_alignment = alignment;
      const TrainingStep training = build_training_step(options);
      const InferenceStep inference = build_inference_step(options, true);
      const auto of = [&](std::int64_t wide) {  // rows of images are planes inside
        return takes_images(name) ? Shape{1, 8, 1, 12, wide} : Shape{1, 8, 8, 12, wide};
      };
      EXPECT_EQ(training.graph.value(training.input[0]).shape, of(2)) << name;
      EXPECT_EQ(inference.graph.value(inference.input[0]).shape, of(2)) << name;
      EXPECT_EQ(read_image(training.graph), of(channels)) << name;
      EXPECT_EQ(read_image(inference.graph), of(channels)) << name;
      EXPECT_EQ(training.graph.value(training.parameters[0]).shape[1], 2) << name;
      expect_order_is_valid(training.graph);
    }
  }
}

TEST(InferenceStep, HasNoDropoutAndGivesProbabilitiesAndIfAskedALoss) {
  const InferenceStep plain = build_inference_step(small(), false),
                      scored = build_inference_step(small(), true);
  EXPECT_EQ(plain.loss, none);
  EXPECT_TRUE(plain.target.empty());
  EXPECT_EQ(scored.graph.value(scored.loss).shape, (Shape{1}));
  EXPECT_EQ(plain.graph.value(plain.probabilities[0]).type, ElementType::f32);
  EXPECT_EQ(plain.graph.value(plain.probabilities[0]).shape, (Shape{1, 8, 8, 12, 3}));
  EXPECT_TRUE(plain.graph.with_role(Role::optimizer_state).empty());
  for (const Node& node : plain.graph.nodes()) EXPECT_NE(node.operation->name, "spatial_dropout_scale");
  expect_order_is_valid(scored.graph);
}

TEST(Steps, HaveCrossEntropyInTheLossThatIsNamedForIt) {
  EXPECT_EQ(loss_options(Loss::weighted_dice).cross_entropy, 0);
  EXPECT_EQ(loss_options(Loss::dice_cross_entropy).cross_entropy, 1);
}

TEST(Steps, TrainAClassifierOfImagesOnClassesAlone) {
  StepOptions options = suited(small(), "resnet18");
  EXPECT_EQ(refusal_of(options), "");
  for (const Loss loss : {Loss::weighted_dice, Loss::softmax_dice_cross_entropy}) {
    options.loss = loss_options(loss);
    EXPECT_TRUE(contains(refusal_of(options), "predicts one class per image"));
  }
}

// Per voxel: a bit for each output, or the number of a class.
TEST(Steps, HaveTargetsOfAsManyBytesAsTheirOutputsTake) {
  StepOptions options = suited(small(), "plain_unet");
  options.network.deep_supervision = {1, 0.5};
  const auto bytes_of_voxel = [&](std::int64_t outputs, Loss loss) {
    options.outputs = outputs;
    options.loss = loss_options(loss);
    const TrainingStep step = build_training_step(options);
    const Shape target = step.graph.value(step.target[0]).shape;
    return target.rank() == 4 ? 1 : target[4];
  };
  EXPECT_EQ(bytes_of_voxel(8, Loss::dice_cross_entropy), 1);
  EXPECT_EQ(bytes_of_voxel(9, Loss::dice_cross_entropy), 2);
  EXPECT_EQ(bytes_of_voxel(117, Loss::dice_cross_entropy), 15);
  EXPECT_EQ(bytes_of_voxel(117, Loss::softmax_dice_cross_entropy), 1);
  EXPECT_EQ(bytes_of_voxel(300, Loss::softmax_dice_cross_entropy), 2);
  options.outputs = 65536;
  EXPECT_TRUE(contains(refusal_of(options), "1 to 65535 output channels"));
}

// Batch norm (Operation::mixes_samples).
TEST(Steps, TakeNoSamplesOneAfterTheOtherThatAreNormedTogether) {
  StepOptions options = suited(small(), "deeplabv3");
  options.share = {.count = 2, .batch = 2};
  EXPECT_TRUE(contains(refusal_of(options), "ranks cannot divide"));
  options.network.name = "resnet3d";
  EXPECT_EQ(refusal_of(options), "");
}

}  // namespace
}  // namespace voxswap::net
