#include "pipeline/export/onnx_graph.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <optional>

#include "base/error.h"
#include "net/graph/axes.h"
#include "net/graph/operation.h"

namespace voxswap::pipeline {

namespace {

using Integers = std::vector<std::int64_t>;

// A constant: weights O,I,D,H,W or other numbers that do not depend on the image.
struct Known {
  Shape shape;
  std::vector<float> values;
};

// Translates nodes in graph order. A value is either the output of an ONNX node or a known constant.
class Translation {
 public:
  Translation(const net::ForwardGraph& network, const std::vector<Tensor>& weights, bool images)
      : graph_(network.graph), images_(images) {
    std::map<std::string, const Tensor*> by_name;
    for (const Tensor& tensor : weights) by_name[tensor.name] = &tensor;
    for (const net::ValueId id : network.parameters) {
      const Tensor* const tensor = by_name.at(graph_.value(id).name);
      known_[id] = {tensor->shape, tensor->values};
    }
    result_.input_shape = sides_of(graph_.value(network.input).shape);
    names_[network.input] = result_.input;
    for (const net::Node& node : graph_.nodes()) translate(node);
    result_.output_shape = sides_of(graph_.value(network.logits).shape);
    result_.multiple_of = multiple_of(network.input);
    logits_ = names_.at(network.logits);
  }

  OnnxGraph with_probabilities(const OnnxOptions& options) && {
    const Attributes channels = {{"axis", std::int64_t{1}}};
    if (options.classifies) {
      logits_ = apply("Flatten", "flat_logits", {logits_}, channels);
      result_.output_shape.resize(1);
    }
    options.softmax ? apply("Softmax", result_.output, {logits_}, channels)
                    : apply("Sigmoid", result_.output, {logits_});
    return std::move(result_);
  }

 private:
  using Attributes = decltype(OnnxNode::attributes);

  // --- Output

  std::string apply(const std::string& operation, const std::string& name, std::vector<std::string> inputs,
                    Attributes attributes = {}) {
    result_.nodes.push_back({operation, std::move(inputs), name, std::move(attributes)});
    return name;
  }
  std::string constant(const std::string& name, Integers shape, decltype(OnnxConstant::values) values) {
    const bool there = std::any_of(result_.constants.begin(), result_.constants.end(),
                                   [&](const OnnxConstant& one) { return one.name == name; });
    if (!there) result_.constants.push_back({name, std::move(shape), std::move(values)});
    return name;
  }
  std::string number(float value, const std::string& name) {
    return constant(name, {}, std::vector<float>{value});
  }
  std::string list(const std::string& name, Integers values) {
    const auto count = static_cast<std::int64_t>(values.size());
    return constant(name, {count}, std::move(values));
  }
  std::string per_channel(net::ValueId id) {  // C
    const Known& known = known_.at(id);
    return constant(graph_.value(id).name, {known.shape.count()}, known.values);
  }
  std::string per_channel_of_volume(net::ValueId id) {  // C,1,1,1
    Integers shape(images_ ? 3 : 4, 1);
    shape[0] = known_.at(id).shape.count();
    return constant(graph_.value(id).name, std::move(shape), known_.at(id).values);
  }
  std::string weight(const std::string& name, const Known& known) {
    Integers shape = known.shape.extents();
    if (images_) shape.erase(shape.begin() + 3);
    return constant(name, std::move(shape), known.values);
  }

  // --- Axes: three for volumes; two for images, whose rows are our planes (depth, not height)

  Integers sides_of(const Shape& shape) const {  // C,D,H,W or C,H,W of N,D,H,W,C
    if (images_) return {shape[4], shape[1], shape[3]};
    return {shape[4], shape[1], shape[2], shape[3]};
  }
  Integers spatial_axes() const { return images_ ? Integers{2, 3} : Integers{2, 3, 4}; }
  template <class Get>
  Integers of_axes(const net::KernelAxes& axes, const Get& get) const {
    Integers values;
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (!images_ || axis != 1) values.push_back(get(axes[axis]));
    return values;
  }
  Integers pads(const net::KernelAxes& axes) const {
    Integers values = of_axes(axes, [](const net::KernelAxis& axis) { return axis.before; });
    const Integers behind = of_axes(axes, [](const net::KernelAxis& axis) { return axis.behind; });
    values.insert(values.end(), behind.begin(), behind.end());
    return values;
  }
  Attributes window(const net::KernelAxes& axes) const {
    return {{"kernel_shape", of_axes(axes, [](const net::KernelAxis& axis) { return axis.kernel; })},
            {"strides", of_axes(axes, [](const net::KernelAxis& axis) { return axis.stride; })},
            {"pads", pads(axes)}};
  }

  // Product of a U-Net's strides along each axis; skip connections need input sizes divisible by it. 2D
  // networks have no such skip connections.
  Integers multiple_of(net::ValueId input) const {
    const Integers whole = sides_of(graph_.value(input).shape);
    Integers multiples(whole.size() - 1, 1);
    if (images_) return multiples;
    for (const auto& [id, name] : names_) {
      const Integers sides = sides_of(graph_.value(id).shape);
      for (std::size_t axis = 1; axis < sides.size(); ++axis)
        multiples[axis - 1] = std::max(multiples[axis - 1], whole[axis] / sides[axis]);
    }
    return multiples;
  }
  // Spatial size of a value, determined at run time.
  std::string sides_at(const std::string& name, const std::string& x) {
    const std::string shape = apply("Shape", name + "/shape", {x});
    return apply("Slice", name + "/sides", {shape, list("two", {2}), list("rank", {images_ ? 4 : 5})});
  }

  // --- Input

  const std::string& input(const net::Node& node, std::size_t i) const { return names_.at(node.inputs[i]); }
  const net::Node* producer(net::ValueId id) const {
    const net::NodeId made_by = graph_.value(id).producer;
    return made_by == net::none ? nullptr : &graph_.node(made_by);
  }
  // The node that made the weights of a convolution of an upsampled volume; otherwise null.
  const net::Node* upsampled_weights(const net::Node& node) const {
    const net::Node* const made_by = producer(node.inputs[1]);
    return made_by != nullptr && made_by->operation->name == "upsampled_weights" ? made_by : nullptr;
  }
  // A slice of a parameter is named after the node; a whole parameter keeps its name.
  std::string weight_of(const net::Node& node) {
    const net::Value& value = graph_.value(node.inputs[1]);
    return weight(value.role == net::Role::parameter ? value.name : node.name + ".weight",
                  known_.at(node.inputs[1]));
  }

  // --- Operations

  using Translate = void (Translation::*)(const net::Node&);
  void translate(const net::Node& node);
  void made(const net::Node& node, const std::string& name) { names_[node.outputs[0]] = name; }
  void nothing(const net::Node&) {}
  void same(const net::Node& node) { made(node, input(node, 0)); }

  std::string convolve(const net::Node& node, const std::string& name);
  void convolution(const net::Node& node) { made(node, convolve(node, node.name)); }
  void convolution_sum(const net::Node& node) {
    made(node, apply("Add", node.name, {convolve(node, node.name + "/conv"), input(node, 2)}));
  }
  void transposed_convolution(const net::Node& node);
  void split(const net::Node& node);
  void norm_activation(const net::Node& node);
  std::string instance_norm(const net::Node& node, double epsilon);
  std::string activation(const std::string& name, const std::string& x, double slope) {
    if (slope == 1) return x;
    if (slope == 0) return apply("Relu", name, {x});
    return apply("LeakyRelu", name, {x}, {{"alpha", static_cast<float>(slope)}});
  }
  void leaky_relu(const net::Node& node) {
    made(node, activation(node.name, input(node, 0), node.attributes.real("slope")));
  }
  void add(const net::Node& node) { made(node, apply("Add", node.name, {input(node, 0), input(node, 1)})); }
  std::string twice(const std::string& name, const std::string& x);
  void upsample(const net::Node& node) { made(node, twice(node.name, input(node, 0))); }
  void max_pool(const net::Node& node) {
    made(node, apply("MaxPool", node.name, {input(node, 0)}, window(net::cube(2, 2, 0))));
  }
  void sliding_max_pool(const net::Node& node) {
    made(node, apply("MaxPool", node.name, {input(node, 0)}, window(net::kernel_axes(node.attributes))));
  }
  void average_pool(const net::Node& node) {
    made(node, apply("GlobalAveragePool", node.name, {input(node, 0)}));
  }
  void resize_linear(const net::Node& node);
  std::string resized_sides(const net::Node& node);

  const net::Graph& graph_;
  const bool images_;
  OnnxGraph result_;
  std::map<net::ValueId, std::string> names_;
  std::map<net::ValueId, Known> known_;
  std::string logits_;
};

std::string Translation::convolve(const net::Node& node, const std::string& name) {
  if (const net::Node* const small = upsampled_weights(node)) {
    assert(node.inputs.size() == 2);  // the bias is part of the instance norm
    const net::ValueId id = small->inputs[0];
    Attributes attributes = window(net::cube(3, 1, 1));
    return apply("Conv", name,
                 {twice(node.name + "/up", input(node, 0)), weight(graph_.value(id).name, known_.at(id))},
                 std::move(attributes));
  }
  const net::KernelAxes axes = net::kernel_axes(node.attributes, known_.at(node.inputs[1]).shape);
  Attributes attributes = window(axes);
  attributes.emplace_back("dilations",
                          of_axes(axes, [](const net::KernelAxis& axis) { return axis.dilation; }));
  std::vector<std::string> inputs = {input(node, 0), weight_of(node)};
  if (node.operation->name == "conv3d" && node.inputs.size() == 3)
    inputs.push_back(per_channel(node.inputs[2]));
  return apply("Conv", name, std::move(inputs), std::move(attributes));
}

// Kernel size equals stride: each voxel of x makes a separate block, y[k j + p] = x[j] w[p] + b. A
// convolution with kernel 1 computes channels p O + o; they are reshaped to k,k,k,O, and the k axes are
// interleaved with the spatial axes.
void Translation::transposed_convolution(const net::Node& node) {
  const Known& w = known_.at(node.inputs[1]);  // I,O,k,k,k
  const net::KernelAxes axes = net::kernel_axes(node.attributes, w.shape);
  const bool is_patchwise = std::all_of(axes.begin(), axes.end(), [](const net::KernelAxis& axis) {
    return axis.kernel == axis.stride && axis.before == 0 && axis.behind == 0;
  });
  if (node.inputs.size() != 3 || !is_patchwise)
    fail(Exit::failed,
         "'{}': only transposed convolutions whose kernels are as long as their strides can be exported to "
         "ONNX",
         node.name);
  const std::int64_t inputs = w.shape[0], outputs = w.shape[1];
  const std::int64_t kd = w.shape[2], kh = w.shape[3], kw = w.shape[4], block = kd * kh * kw;
  const std::vector<float>& bias = known_.at(node.inputs[2]).values;
  Known rows{{block * outputs, inputs, 1, 1, 1}, std::vector<float>(w.values.size())};
  std::vector<float> biases;
  for (std::int64_t p = 0; p < block; ++p)
    for (std::int64_t o = 0; o < outputs; ++o) {
      biases.push_back(bias[static_cast<std::size_t>(o)]);
      for (std::int64_t i = 0; i < inputs; ++i)
        rows.values[static_cast<std::size_t>((p * outputs + o) * inputs + i)] =
            w.values[static_cast<std::size_t>((i * outputs + o) * block + p)];
    }
  const std::string conv = apply("Conv", node.name + "/conv",
                                 {input(node, 0), weight(node.name + ".weight", rows),
                                  constant(node.name + ".bias", {block * outputs}, std::move(biases))},
                                 {{"kernel_shape", Integers{1, 1, 1}}});
  const std::string sides = sides_at(node.name + "/small", input(node, 0));
  const auto shape = [&](const char* what, Integers begin, const std::string& end) {
    const std::string name = node.name + what;
    return apply("Concat", name, {list(name + ".begin", std::move(begin)), end}, {{"axis", std::int64_t{0}}});
  };
  const std::string apart =
      apply("Reshape", node.name + "/apart", {conv, shape("/apart.shape", {0, kd, kh, kw, outputs}, sides)});
  const std::string beside =
      apply("Transpose", node.name + "/beside", {apart}, {{"perm", Integers{0, 4, 5, 1, 6, 2, 7, 3}}});
  const std::string large =
      apply("Mul", node.name + "/large", {sides, list(node.name + ".block", {kd, kh, kw})});
  made(node, apply("Reshape", node.name, {beside, shape(".shape", {0, outputs}, large)}));
}

// Splits weights along an axis at export time.
void Translation::split(const net::Node& node) {
  const Known& whole = known_.at(node.inputs[0]);
  const int axis = static_cast<int>(node.attributes.integer("axis"));
  const std::int64_t inner = whole.shape.count_from(axis + 1), side = whole.shape[axis];
  std::int64_t from = 0;
  for (const net::ValueId id : node.outputs) {
    Known part{graph_.value(id).shape, {}};
    const std::int64_t count = part.shape[axis];
    for (std::int64_t outer = 0; outer < whole.shape.count() / (side * inner); ++outer) {
      const auto begin = whole.values.begin() + (outer * side + from) * inner;
      part.values.insert(part.values.end(), begin, begin + count * inner);
    }
    from += count;
    known_[id] = std::move(part);
  }
}

std::string Translation::instance_norm(const net::Node& node, double epsilon) {
  const std::string& x = input(node, 0);
  const Attributes over = {{"axes", spatial_axes()}, {"keepdims", std::int64_t{1}}};
  const std::string at = node.name + "/";
  const std::string mean = apply("ReduceMean", at + "mean", {x}, over);
  const std::string centred = apply("Sub", at + "centred", {x, mean});
  const std::string squares = apply("Mul", at + "squares", {centred, centred});
  const std::string variance = apply("ReduceMean", at + "variance", {squares}, over);
  const std::string safe =
      apply("Add", at + "safe_variance", {variance, number(static_cast<float>(epsilon), "epsilon")});
  const std::string deviation = apply("Sqrt", at + "deviation", {safe});
  const std::string normed = apply("Div", at + "normed", {centred, deviation});
  const std::string scaled = apply("Mul", at + "scaled", {normed, per_channel_of_volume(node.inputs[2])});
  return apply("Add", at + "shifted", {scaled, per_channel_of_volume(node.inputs[3])});
}

void Translation::norm_activation(const net::Node& node) {
  const net::Node* const statistics = producer(node.inputs[1]);
  const double epsilon = statistics->attributes.real("epsilon");
  const bool residual = node.attributes.flag("has_residual");
  assert(!node.attributes.flag("has_scale"));  // dropout: training only
  std::string x;
  if (statistics->operation->name == "running_statistics")
    x = apply("BatchNormalization", node.name + "/norm",
              {input(node, 0), per_channel(node.inputs[2]), per_channel(node.inputs[3]),
               per_channel(statistics->inputs[0]), per_channel(statistics->inputs[1])},
              {{"epsilon", static_cast<float>(epsilon)}});
  else
    x = instance_norm(node, epsilon);
  x = activation(node.name + "/activation", x, node.attributes.real("slope"));
  if (residual) x = apply("Add", node.name, {x, names_.at(node.inputs.back())});
  made(node, x);
}

// Nearest neighbour: output voxel o is input voxel o / 2.
std::string Translation::twice(const std::string& name, const std::string& x) {
  const std::string scales = constant("twice", {5}, std::vector<float>{1, 1, 2, 2, 2});
  return apply("Resize", name, {x, "", scales},
               {{"mode", std::string("nearest")},
                {"coordinate_transformation_mode", std::string("asymmetric")},
                {"nearest_mode", std::string("floor")}});
}

// Batch and spatial sizes are determined at run time.
void Translation::resize_linear(const net::Node& node) {
  const std::string& x = input(node, 0);
  const std::string shape = apply("Shape", node.name + "/shape", {x});
  const std::string start =
      apply("Slice", node.name + "/batch_channels", {shape, list("zero", {0}), list("two", {2})});
  const std::string sizes =
      apply("Concat", node.name + "/sizes", {start, resized_sides(node)}, {{"axis", std::int64_t{0}}});
  made(node, apply("Resize", node.name, {x, "", "", sizes},
                   {{"mode", std::string("linear")},
                    {"coordinate_transformation_mode", std::string("half_pixel")}}));
}

// The target size: that of the volume whose average is broadcast, that of the image, or an integer fraction
// of the input's.
std::string Translation::resized_sides(const net::Node& node) {
  const std::string name = node.name + "/to";
  if (node.operation->name == "average_pool_gradient") {
    const net::Node* from = &node;
    while (from->operation->name != "average_pool") from = producer(from->inputs[0]);
    return sides_at(name, input(*from, 0));
  }
  const Integers before = sides_of(graph_.value(node.inputs[0]).shape),
                 after = sides_of(graph_.value(node.outputs[0]).shape);
  if (std::equal(after.begin() + 1, after.end(), result_.input_shape.begin() + 1))
    return sides_at(name, result_.input);
  Integers parts;
  for (std::size_t axis = 1; axis < after.size(); ++axis) {
    parts.push_back(before[axis] / after[axis]);
    if (parts.back() * after[axis] != before[axis])
      fail(Exit::failed, "'{}': a resize of {} to {} voxels cannot be exported to ONNX", node.name,
           before[axis], after[axis]);
  }
  return apply("Div", name + "/part", {sides_at(name, input(node, 0)), list(node.name + ".parts", parts)});
}

void Translation::translate(const net::Node& node) {
  static const std::map<std::string_view, Translate> table = {
      {"conv3d", &Translation::convolution},
      {"conv3d_sum", &Translation::convolution_sum},
      {"conv3d_data_gradient", &Translation::transposed_convolution},
      {"upsampled_weights", &Translation::nothing},  // done by the convolution
      {"interleave", &Translation::same},            // the convolution's output is already interleaved
      {"instance_norm_statistics", &Translation::nothing},
      {"running_statistics", &Translation::nothing},
      {"norm_activation", &Translation::norm_activation},
      {"leaky_relu", &Translation::leaky_relu},
      {"add", &Translation::add},
      {"cast", &Translation::same},
      {"split", &Translation::split},
      {"upsample_nearest", &Translation::upsample},
      {"max_pool", &Translation::max_pool},
      {"sliding_max_pool", &Translation::sliding_max_pool},
      {"average_pool", &Translation::average_pool},
      {"resize_linear", &Translation::resize_linear},
      {"average_pool_gradient", &Translation::resize_linear},  // of a single voxel: broadcast
  };
  const auto found = table.find(node.operation->name);
  if (found == table.end())
    fail(Exit::failed, "'{}' of the network is a {}, which cannot be exported to ONNX yet. Use --to pytorch",
         node.name, node.operation->name);
  (this->*found->second)(node);
}

}  // namespace

OnnxGraph onnx_graph(const net::ForwardGraph& network, const std::vector<Tensor>& weights,
                     const OnnxOptions& options) {
  return Translation(network, weights, options.images).with_probabilities(options);
}

}  // namespace voxswap::pipeline
