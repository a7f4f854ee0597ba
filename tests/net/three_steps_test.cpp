// Compares three training steps with PyTorch, for every loss, with both optimisers, weight decay and clipped
// gradients: losses, gradients of the logits, norms and weights. Numbers and scripts:
// tests/fixtures/{losses,training}_small.{safetensors,py}.
#include "net/graph/operation.h"
#include "tests/net/pytorch.h"
#include "tests/net/training.h"

namespace voxswap::net {
namespace {

struct Row {
  std::string name;  // in the file
  std::string file;
  StepOptions options;
  double rate;
  double in_double, in_single;  // tolerances of weights; for a gradient, relative to its largest element
  double of_losses = 1;         // factor for losses
};

// Two images, one at a time.
Row of_loss(const std::string& name, const LossOptions& loss) {
  StepOptions options;
  options.input = fixture("isensee2017").at("input").shape;
  options.input[0] = 1;
  options.share = {0, 2, 2};
  options.loss = loss;
  options.optimizer = {.name = Optimizer::sgd, .momentum = 0.9};
  return {name, "losses", options, 0.02, 1e-6, 1e-5};
}

// As one batch. Adam divides gradients by their own size, so steps are only rounding noise where gradients
// are.
Row of_optimizer(Optimizer optimizer) {
  StepOptions options;
  options.input = fixture("isensee2017").at("input").shape;
  options.loss = loss_options(Loss::softmax_dice_cross_entropy);
  options.optimizer = {.name = optimizer, .weight_decay = 0.01, .momentum = 0.9, .clip = 0.25};
  const bool sgd = optimizer == Optimizer::sgd;
  return {choice_name(optimizer), "training", options, sgd ? 0.05 : 0.002, 1e-6, sgd ? 1e-5 : 1e-3, 10};
}

std::vector<Row> rows() {
  const std::vector<double> weights = {0.5, 2, 1.5};
  const Loss classes = Loss::softmax_dice_cross_entropy, labels = Loss::dice_cross_entropy;
  const auto loss = [](Loss of, std::vector<double> with = {}, double smoothing = 0, double focus = 0,
                       Unknown unknown = Unknown::nothing, bool batch = false) {
    LossOptions options = loss_options(of);
    options.weights = std::move(with);
    options.smoothing = smoothing;
    options.focus = focus;
    options.unknown = unknown;
    options.batch_dice = batch;
    return options;
  };
  return {of_loss("classes_weighted", loss(classes, weights)),
          of_loss("classes_weighted_smoothed", loss(Loss::softmax_cross_entropy, weights, 0.1)),
          of_loss("classes_focal", loss(classes, {}, 0, 2)),
          of_loss("classes_ignoring", loss(classes, {}, 0.1, 0, Unknown::voxels)),
          of_loss("classes_ignoring_batch", loss(classes, weights, 0, 0, Unknown::voxels, true)),
          of_loss("labels_weighted", loss(labels, weights)),
          of_loss("labels_smoothed", loss(Loss::cross_entropy, {}, 0.2)),
          of_loss("labels_focal", loss(labels, {}, 0, 1.5)),
          of_loss("labels_ignoring", loss(labels, weights, 0.1, 0, Unknown::voxels)),
          of_loss("labels_ignoring_batch", loss(labels, {}, 0, 0, Unknown::voxels, true)),
          of_loss("labels_partial", loss(labels, weights, 0.1, 0, Unknown::outputs)),
          of_loss("labels_partial_batch", loss(labels, {}, 0, 0, Unknown::outputs, true)),
          of_optimizer(Optimizer::sgd),
          of_optimizer(Optimizer::adam)};
}

// The fixture's target, without ignored voxels if the loss ignores none.
Doubles targets(const Row& row) {
  const Tensors& file = fixture(row.file);
  const LossOptions& loss = row.options.loss;
  if (row.file == "training") return file.at("target").values;
  if (loss.unknown == Unknown::outputs) return file.at("partial").values;
  Doubles values = file.at(loss.classes ? "classes" : "bits").values;
  if (loss.unknown == Unknown::nothing)
    for (double& value : values)
      if (value == (loss.classes ? 255 : 8)) value = 0;
  return values;
}

// PyTorch's initial state: the images, the network's weights, and a new optimiser.
class ThreeSteps : public testing::TestWithParam<OnBackend<Row>> {
 protected:
  ThreeSteps() {
    StepOptions options = row_.options;
    options.network = {.name = "isensee2017", .base_filters = 4, .depth = 4, .dropout = 0};
    options.outputs = 3;
    options.activations = GetParam().type;
    step_ = build_training_step(options);
    run_ = std::make_unique<GraphRun>(step_.graph, *backend_);
    set_each(step_.input, fixture("isensee2017").at("input").values);
    set_each(step_.target, targets(row_));
    for (const ValueId id : step_.parameters)
      run_->set(id, fixture("isensee2017").at("parameter/" + step_.graph.value(id).name).values);
    for (const ValueId id : step_.optimizer_state) run_->set(id, filled(step_.graph, id, Fill::zeros, 0));
  }

  void set_each(const std::vector<ValueId>& ids, const Doubles& values) {
    const std::size_t each = values.size() / ids.size();
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto first = values.begin() + static_cast<std::ptrdiff_t>(i * each);
      run_->set(ids[i], {first, first + static_cast<std::ptrdiff_t>(each)});
    }
  }

  const Tensor* wanted(const std::string& name) const {
    const auto found = fixture(row_.file).find(row_.name + "/" + name);
    return found == fixture(row_.file).end() ? nullptr : &found->second;
  }

  // The planes that the fixture contains, of all samples.
  Doubles logits_gradient() {
    Doubles result;
    for (const Node& node : step_.graph.nodes()) {
      if (!node.operation->name.ends_with("loss_sums_gradient")) continue;
      const Shape& shape = step_.graph.value(node.outputs[0]).shape;
      const Doubles all = run_->get(node.outputs[0]);
      const auto plane = static_cast<std::ptrdiff_t>(shape[2] * shape[3] * shape[4]);
      result.insert(result.end(), all.begin() + 7 * plane, all.begin() + 9 * plane);
    }
    return result;
  }

  const Row& row_ = GetParam().row;
  const std::unique_ptr<Backend> backend_ = make_backend(GetParam().backend);
  TrainingStep step_;
  std::unique_ptr<GraphRun> run_;
};

TEST_P(ThreeSteps, LearnAsInPyTorch) {
  const double tolerance = GetParam().type == ElementType::f64 ? row_.in_double : row_.in_single;
  for (std::uint64_t i = 0; i < 3; ++i) {
    run_->run({.step = static_cast<std::int64_t>(i + 1), .learning_rate = row_.rate});
    EXPECT_NEAR(run_->get(step_.loss)[0], wanted("losses")->values[i], row_.of_losses * tolerance) << i;
    if (i > 0) continue;
    if (const Tensor* gradient = wanted("logits")) {
      EXPECT_LE(largest_difference(logits_gradient(), gradient->values),
                10 * tolerance * largest(gradient->values));
    }
    const Tensor* norms = wanted("norms");
    for (const Node& node : step_.graph.nodes()) {
      if (node.operation->name != "clip_factor") continue;
      ASSERT_NE(norms, nullptr) << "nothing is to be clipped";
      EXPECT_NEAR(std::sqrt(run_->get(node.inputs[0])[0]), norms->values[0], tolerance);
      EXPECT_NEAR(run_->get(node.outputs[0])[0], 0.25 / norms->values[0], tolerance);
      norms = nullptr;
    }
    EXPECT_EQ(norms, nullptr) << "nothing clips";
  }
  std::size_t compared = 0;
  for (const ValueId id : step_.trained) {
    const std::string& name = step_.graph.value(id).name;
    const Tensor* expected = wanted(name);
    if (expected == nullptr) continue;
    EXPECT_LE(largest_difference(run_->get(id), expected->values), tolerance) << name;
    ++compared;
  }
  EXPECT_GT(compared, row_.file == "training" ? 40u : 8u);
}

INSTANTIATE_TEST_SUITE_P(Every, ThreeSteps, testing::ValuesIn(on_every_backend(rows())),
                         [](const auto& one) { return one.param.name(); });

}  // namespace
}  // namespace voxswap::net
