// Three steps under every loss against PyTorch: losses, gradients of the logits and weights. The numbers and
// the script that made them: tests/fixtures/losses_small.{safetensors,py}.
#include <gtest/gtest.h>

#include <algorithm>

#include "net/backends/backends.h"
#include "net/steps/step.h"
#include "tests/net/safetensors.h"

namespace voxswap::net {
namespace {

using Tensors = std::map<std::string, Tensor>;
const Tensors& fixture(const char* name) {
  static std::map<std::string, Tensors> files;
  const auto [found, fresh] = files.try_emplace(name);
  if (fresh) found->second = load_safetensors(fs::path(VOXSWAP_SOURCE_DIR) / "tests/fixtures" / name);
  return found->second;
}
const Tensors& network() {
  return fixture("isensee2017_small.safetensors");
}
const Tensors& expected() {
  return fixture("losses_small.safetensors");
}

LossOptions loss(Loss of, std::vector<double> weights = {}, double smoothing = 0, double focus = 0) {
  LossOptions options = loss_options(of);
  options.weights = std::move(weights);
  options.smoothing = smoothing;
  options.focus = focus;
  return options;
}
LossOptions ignoring(LossOptions options) {
  options.unknown = Unknown::voxels;
  return options;
}
LossOptions partial(LossOptions options) {
  options.unknown = Unknown::outputs;
  return options;
}
LossOptions of_batch(LossOptions options) {
  options.batch_dice = true;
  return options;
}

const std::map<std::string, LossOptions>& losses() {
  const std::vector<double> weights = {0.5, 2, 1.5};
  const Loss classes = Loss::softmax_dice_cross_entropy, labels = Loss::dice_cross_entropy;
  static const std::map<std::string, LossOptions> all = {
      {"classes_weighted", loss(classes, weights)},
      {"classes_weighted_smoothed", loss(Loss::softmax_cross_entropy, weights, 0.1)},
      {"classes_focal", loss(classes, {}, 0, 2)},
      {"classes_ignoring", ignoring(loss(classes, {}, 0.1))},
      {"classes_ignoring_batch", of_batch(ignoring(loss(classes, weights)))},
      {"labels_weighted", loss(labels, weights)},
      {"labels_smoothed", loss(Loss::cross_entropy, {}, 0.2)},
      {"labels_focal", loss(labels, {}, 0, 1.5)},
      {"labels_ignoring", ignoring(loss(labels, weights, 0.1))},
      {"labels_ignoring_batch", of_batch(ignoring(loss(labels)))},
      {"labels_partial", partial(loss(labels, weights, 0.1))},
      {"labels_partial_batch", of_batch(partial(loss(labels)))}};
  return all;
}

// The target of a loss that ignores nothing has something else there.
std::vector<double> targets(const LossOptions& options) {
  if (options.unknown == Unknown::outputs) return expected().at("partial").values;
  std::vector<double> values = expected().at(options.classes ? "classes" : "bits").values;
  if (options.unknown == Unknown::nothing)
    for (double& value : values)
      if (value == (options.classes ? 255 : 8)) value = 0;
  return values;
}

struct Way {
  std::string backend, loss;
  ElementType type;
  double tolerance;  // of losses and weights; of a gradient, beside the largest of it
};
std::string name_of(const Way& way) {
  return way.backend + "_" + std::string(element_name(way.type)) + "_" + way.loss;
}
void PrintTo(const Way& way, std::ostream* out) {
  *out << name_of(way);
}

std::vector<Way> ways() {
  std::vector<Way> result;
  for (const std::string& backend : backend_names())
    for (const auto& [name, options] : losses()) {
      if (backend == "reference")
        result.push_back({backend, name, ElementType::f64, 1e-6});
      else
        result.push_back({backend, name, ElementType::f32, 1e-5});
    }
  return result;
}

class LossesOfPyTorch : public testing::TestWithParam<Way> {
 protected:
  static constexpr std::int64_t samples = 2;

  LossesOfPyTorch() {
    StepOptions options;
    options.network = {.name = "isensee2017", .base_filters = 4, .depth = 4, .dropout = 0};
    options.input = network().at("input").shape;
    options.input[0] = 1;
    options.outputs = 3;
    options.activations = GetParam().type;
    options.loss = losses().at(GetParam().loss);
    options.optimizer = {.name = Optimizer::sgd, .momentum = 0.9};
    options.share = {0, samples, samples};
    step_ = build_training_step(options);
    backend_ = make_backend(GetParam().backend);
    run_ = std::make_unique<GraphRun>(step_.graph, *backend_);
    set_each(step_.input, network().at("input").values);
    set_each(step_.target, targets(options.loss));
    for (const ValueId id : step_.parameters)
      run_->set(id, network().at("parameter/" + step_.graph.value(id).name).values);
    for (const ValueId id : step_.optimizer_state)
      run_->set(id, std::vector<double>(static_cast<std::size_t>(step_.graph.value(id).shape.count()), 0.0));
  }

  void set_each(const std::vector<ValueId>& ids, const std::vector<double>& values) {
    const std::size_t each = values.size() / ids.size();
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto first = values.begin() + static_cast<std::ptrdiff_t>(i * each);
      run_->set(ids[i], {first, first + static_cast<std::ptrdiff_t>(each)});
    }
  }

  const Tensor& wanted(const std::string& name) const { return expected().at(GetParam().loss + "/" + name); }

  // The planes that the fixture has, of all samples.
  std::vector<double> logits_gradient() {
    std::vector<double> result;
    for (const Node& node : step_.graph.nodes()) {
      if (!node.operation->name.ends_with("loss_sums_gradient")) continue;
      const Shape& shape = step_.graph.value(node.outputs[0]).shape;
      const std::vector<double> all = run_->get(node.outputs[0]);
      const auto plane = static_cast<std::ptrdiff_t>(shape[2] * shape[3] * shape[4]);
      result.insert(result.end(), all.begin() + 7 * plane, all.begin() + 9 * plane);
    }
    return result;
  }

  TrainingStep step_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<GraphRun> run_;
};

TEST_P(LossesOfPyTorch, LearnTheSame) {
  const double tolerance = GetParam().tolerance;
  for (std::uint64_t i = 0; i < 3; ++i) {
    run_->run({.step = static_cast<std::int64_t>(i + 1), .learning_rate = 0.02});
    EXPECT_NEAR(run_->get(step_.loss)[0], wanted("losses").values[i], tolerance) << i;
    if (i > 0) continue;
    const std::vector<double>& gradient = wanted("logits").values;
    EXPECT_LE(largest_difference(logits_gradient(), gradient), 10 * tolerance * largest(gradient));
  }
  std::size_t compared = 0;
  for (const ValueId id : step_.trained) {
    const auto found = expected().find(GetParam().loss + "/" + step_.graph.value(id).name);
    if (found == expected().end()) continue;
    EXPECT_LE(largest_difference(run_->get(id), found->second.values), tolerance) << found->first;
    ++compared;
  }
  EXPECT_GT(compared, 8u);
}

INSTANTIATE_TEST_SUITE_P(Every, LossesOfPyTorch, testing::ValuesIn(ways()),
                         [](const testing::TestParamInfo<Way>& way) { return name_of(way.param); });

}  // namespace
}  // namespace voxswap::net
