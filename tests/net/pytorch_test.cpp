// Compares small networks with PyTorch and torchvision, through the training step: probabilities, losses, the
// gradient of every parameter, running statistics and parameter names. Numbers and scripts:
// tests/fixtures/*_small.safetensors, isensee2017_small.py, unet_networks.py, image_networks.py.
#include "tests/net/pytorch.h"

#include "net/graph/operation.h"
#include "tests/net/training.h"

namespace voxswap::net {
namespace {

struct Row {
  std::string name, file;
  std::string key;  // key in the file: a loss or, for 2D networks, an output stride
  NetworkOptions network;
  Loss loss;
  double tolerance = 2e-3;  // in f32; relative to the largest magnitude of a tensor

  bool of_images() const { return takes_images(network.name); }
  const Tensor& wanted(const std::string& what, const std::string& parameter = "") const {
    const std::string of = of_images() ? key + "/" + what : what + "/" + key;
    return fixture(file).at(parameter.empty() ? of : of + "/" + parameter);
  }
  const Tensor& probabilities() const {
    return of_images() ? wanted("predicted") : fixture(file).at("probabilities");
  }
};

// Kernels and strides along x, y, z. nnU-Net's weights at three levels are those of "deep".
std::vector<Row> rows() {
  const NetworkOptions isensee = {.name = "isensee2017", .base_filters = 4, .depth = 4, .dropout = 0};
  NetworkOptions plain = {.name = "plain_unet",
                          .base_filters = 3,
                          .max_filters = 8,
                          .depth = 4,
                          .slope = 0.01,
                          .kernels = {{3, 3, 1}, {3, 3, 3}},
                          .strides = {{1, 1, 1}, {2, 2, 1}, {2, 2, 2}, {2, 2, 1}}};
  NetworkOptions residual = {.name = "resenc_unet",
                             .base_filters = 2,
                             .max_filters = 6,
                             .depth = 4,
                             .slope = 0.01,
                             .kernels = {{3, 3, 1}, {3, 3, 1}, {3, 3, 3}},
                             .strides = {{1, 1, 1}, {2, 2, 1}, {2, 2, 2}}};
  NetworkOptions unet = {.name = "unet3d", .base_filters = 2, .depth = 3};
  std::vector<Row> result = {
      {"isensee2017_dice", "isensee2017", "weighted_dice", isensee, Loss::weighted_dice, 1e-3},
      {"isensee2017_both", "isensee2017", "dice_cross_entropy", isensee, Loss::dice_cross_entropy, 1e-3}};
  const Loss loss = Loss::softmax_dice_cross_entropy;
  for (const NetworkOptions& one : {plain, residual, unet})
    result.push_back({one.name, one.name, "last", one, loss});
  unet.upsampling = Upsampling::nearest;
  result.push_back({"unet3d_nearest", "unet3d_nearest", "last", unet, loss});
  for (NetworkOptions one : {plain, residual}) {
    one.deep_supervision = {1, 0.5, 0.25};
    result.push_back({"deep_" + one.name, one.name, "deep", one, loss});
  }
  for (const auto& [name, stride] :
       {std::pair{"resnet18", "32"}, {"resnet50", "32"}, {"deeplabv3", "8"}, {"deeplabv3", "16"}}) {
    NetworkOptions one = {.name = name, .base_filters = 2, .dropout = 0};
    if (stride == std::string("8")) one.output_stride = OutputStride::eight;
    result.push_back({std::string(name) + "_" + stride, name, stride, one, Loss::softmax_cross_entropy});
  }
  return result;
}

StepOptions options_for(const Row& row, ElementType type) {
  StepOptions options;
  options.network = row.network;
  options.input = fixture(row.file).at("input").shape;
  options.outputs = row.probabilities().shape[-1];
  options.activations = type;
  options.loss = loss_options(row.loss);
  return options;
}

// torchvision's weights for images are O,I,H,W, and O,I for a dense layer; here rows are planes.
Shape as_volume(const Shape& shape) {
  if (shape.rank() == 4) return {shape[0], shape[1], shape[2], 1, shape[3]};
  if (shape.rank() == 2) return {shape[0], shape[1], 1, 1, 1};
  return shape;
}

// If a library rounds differently, some rectified units of an image network's 50 layers change sides of zero:
// in double, a relative input change of 1e-6 changes gradients of deeplabv3 by up to 4 %.
constexpr double of_rectifiers = 0.05;

class SmallNetworks : public testing::TestWithParam<OnBackend<Row>> {
 protected:
  template <class Step>
  void begin(GraphRun& run, const Step& step) const {
    const Tensors& file = fixture(row_.file);
    run.set(step.input[0], file.at("input").values);
    if (!step.target.empty()) run.set(step.target[0], file.at("target").values);
    std::size_t in_the_file = 0;
    for (const auto& [name, tensor] : file) in_the_file += name.starts_with("parameter/") ? 1 : 0;
    if (row_.key != "last") {  // its file also has the heads of other levels
      EXPECT_EQ(step.parameters.size(), in_the_file);
    }
    for (const ValueId id : step.parameters) {
      const Value& parameter = step.graph.value(id);
      ASSERT_TRUE(file.contains("parameter/" + parameter.name)) << parameter.name;
      const Tensor& tensor = file.at("parameter/" + parameter.name);
      ASSERT_EQ(parameter.shape, as_volume(tensor.shape)) << parameter.name;
      run.set(id, tensor.values);
    }
  }
  void expect_near(const Doubles& found, const Tensor& wanted, const std::string& what,
                   double tolerance) const {
    EXPECT_LE(largest_difference(found, wanted.values), tolerance * largest(wanted.values)) << what;
  }
  void expect_near(const Doubles& found, const Tensor& wanted, const std::string& what) const {
    expect_near(found, wanted, what, tolerance_);
  }

  const Row& row_ = GetParam().row;
  const ElementType type_ = GetParam().type;
  const double tolerance_ = type_ == ElementType::f64 ? 2e-6 : row_.tolerance;
  const bool rounds_otherwise_ = row_.of_images() && GetParam().backend == "cuda";
  const std::unique_ptr<Backend> backend_ = make_backend(GetParam().backend);
};

TEST_P(SmallNetworks, LearnAsInPyTorch) {
  const TrainingStep step = build_training_step(options_for(row_, type_));
  GraphRun run(step.graph, *backend_);
  begin(run, step);
  for (const ValueId id : step.optimizer_state) run.set(id, filled(step.graph, id, Fill::zeros, 0));
  run.run({.learning_rate = 0});

  EXPECT_NEAR(run.get(step.loss)[0], row_.wanted("loss").values[0], tolerance_);
  std::size_t compared = 0, running = 0;
  for (const Node& node : step.graph.nodes()) {
    for (std::size_t i = 0; node.operation->name == "adam" && i < node.inputs.size(); ++i, ++compared) {
      const std::string& name = step.graph.value(node.updates[3 * i]).name;
      expect_near(run.get(node.inputs[i]), row_.wanted("gradient", name), name,
                  rounds_otherwise_ ? of_rectifiers : tolerance_);
    }
    if (node.operation->name != "running_statistics_update") continue;
    for (const ValueId id : node.updates) {
      const std::string& name = step.graph.value(id).name;
      expect_near(run.get(id), row_.wanted("running", name), name);
      ++running;
    }
  }
  EXPECT_EQ(compared, step.trained.size());
  if (row_.of_images()) {
    EXPECT_EQ(compared + running, step.parameters.size());
  }
}

TEST_P(SmallNetworks, PredictAsInPyTorch) {
  if (row_.key == "deep") GTEST_SKIP() << "predicts as it does with one loss";
  const InferenceStep step = build_inference_step(options_for(row_, type_), /*with_loss=*/!row_.of_images());
  GraphRun run(step.graph, *backend_);
  begin(run, step);
  run.run({});
  const Tensor& wanted = row_.probabilities();
  const Shape& of = wanted.shape;  // for images N,1,H,W,C
  EXPECT_EQ(step.graph.value(step.probabilities[0]).shape,
            row_.of_images() ? (Shape{of[0], of[2], 1, of[3], of[4]}) : of);
  EXPECT_LE(largest_difference(run.get(step.probabilities[0]), wanted.values), tolerance_);
  if (!row_.of_images()) {
    EXPECT_NEAR(run.get(step.loss)[0], row_.wanted("loss").values[0], tolerance_);
  }
}

INSTANTIATE_TEST_SUITE_P(Every, SmallNetworks, testing::ValuesIn(on_every_backend(rows())),
                         [](const auto& one) { return one.param.name(); });

// In the fixture, parameters that are not trained here have negligible gradients compared with the weights of
// their convolution.
TEST(SmallIsensee2017Biases, ThatAreNotTrainedHaveNoGradientInPyTorchEither) {
  const Row row = rows().front();
  const TrainingStep step = build_training_step(options_for(row, ElementType::f32));
  std::size_t untrained = 0;
  for (const ValueId id : step.parameters) {
    if (std::count(step.trained.begin(), step.trained.end(), id) > 0) continue;
    const std::string& name = step.graph.value(id).name;
    ++untrained;
    EXPECT_GT(largest(fixture(row.file).at("parameter/" + name).values), 0) << name;
    for (const std::string loss : {"weighted_dice", "dice_cross_entropy"}) {
      const std::string prefix = "gradient/" + loss + "/" + name.substr(0, name.size() - 4);
      EXPECT_LT(largest(fixture(row.file).at(prefix + "bias").values),
                1e-12 * largest(fixture(row.file).at(prefix + "weight").values))
          << name;
    }
  }
  EXPECT_EQ(untrained, 21u) << "three blocks on each of four levels and three of decoders";
}

}  // namespace
}  // namespace voxswap::net
