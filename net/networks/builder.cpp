#include "net/networks/builder.h"

#include <cassert>

#include "base/text.h"

namespace voxswap::net {

ValueId NetworkBuilder::add_image(const Shape& shape, std::int64_t voxel_alignment) {
  const ValueId input = graph.add_value("input", shape, activations, Role::input);
  std::int64_t wide = image_channels_ = shape[-1];
  while (wide * element_bytes(activations) % voxel_alignment != 0) ++wide;
  image_ = wide == image_channels_ ? input
                                   : graph.apply("zero_pad", "input.padded", {input},
                                                 {{"axis", 4}, {"side", static_cast<double>(wide)}});
  return input;
}

ValueId NetworkBuilder::parameter(const std::string& name, const Shape& shape) {
  if (parameters_.empty())
    for (ValueId id : graph.with_role(Role::parameter)) parameters_[graph.value(id).name] = id;
  const auto [entry, added] = parameters_.try_emplace(name, none);
  if (added) entry->second = graph.add_value(name, shape, full_type(), Role::parameter);
  assert(graph.value(entry->second).shape == shape);
  return entry->second;
}

ValueId NetworkBuilder::padded_weight(ValueId x, ValueId weight, const std::string& name) {
  const std::int64_t stored = graph.value(x).shape[-1];
  if (stored == channels(x)) return weight;
  return graph.apply("zero_pad", name + ".padded_weight", {weight},
                     {{"axis", 1}, {"side", static_cast<double>(stored)}});
}

std::vector<ValueId> NetworkBuilder::operands(ValueId x, ValueId weight, const std::string& name,
                                              std::int64_t outputs, Bias bias) {
  if (bias == Bias::absent) return {x, padded_weight(x, weight, name)};
  const ValueId added = parameter(name + ".bias", {outputs});
  weight = padded_weight(x, weight, name);
  return bias == Bias::added ? std::vector{x, weight, added} : std::vector{x, weight};
}

ValueId NetworkBuilder::convolution(const std::string& name, ValueId x, std::int64_t outputs,
                                    std::int64_t kernel, Bias bias, std::int64_t stride) {
  return convolution(name, x, outputs, cube(kernel, stride, kernel / 2), bias);
}

ValueId NetworkBuilder::convolution(const std::string& name, ValueId x, std::int64_t outputs,
                                    const KernelAxes& axes, Bias bias) {
  const ValueId weight =
      parameter(name + ".weight", {outputs, channels(x), axes[0].kernel, axes[1].kernel, axes[2].kernel});
  return graph.apply("conv3d", name, operands(x, weight, name, outputs, bias), attributes_of(axes));
}

ValueId NetworkBuilder::convolution_of_parts(const std::string& name, const std::vector<ValueId>& parts,
                                             std::int64_t outputs) {
  assert(!parts.empty());
  std::int64_t inputs = 0;
  for (const ValueId part : parts) inputs += channels(part);
  ValueId rest = parameter(name + ".weight", {outputs, inputs, 1, 1, 1}), sum = none;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    ValueId weight = rest;
    if (i + 1 < parts.size()) {
      const NodeId split = graph.add("split", format("{}.weights.{}", name, i), {rest},
                                     {{"axis", 1}, {"count", static_cast<double>(channels(parts[i]))}});
      weight = graph.node(split).outputs[0];
      rest = graph.node(split).outputs[1];
    }
    const std::string of_part = format("{}.part.{}", name, i);
    const Attributes attributes = attributes_of(KernelAxes{});
    sum = i == 0 ? graph.apply("conv3d", of_part, {parts[i], weight}, attributes)
                 : graph.apply("conv3d_sum", of_part, {parts[i], weight, sum}, attributes);
  }
  return sum;
}

ValueId NetworkBuilder::convolution_of_upsampled(const std::string& name, ValueId x, std::int64_t outputs) {
  const ValueId weight = parameter(name + ".weight", {outputs, channels(x), 3, 3, 3});
  const ValueId kernels = graph.apply("upsampled_weights", name + ".kernels", {weight});
  const ValueId phases =
      graph.apply("conv3d", name + ".phases", operands(x, kernels, name, outputs, Bias::taken_by_norm),
                  {{"stride", 1}, {"padding", 1}});
  return graph.apply("interleave", name, {phases});
}

NetworkBuilder::Halves NetworkBuilder::convolution_of_skip(const std::string& name, ValueId skip,
                                                           bool skip_first, std::int64_t up_channels,
                                                           std::int64_t outputs, Bias bias,
                                                           const KernelAxes& axes) {
  const ValueId weight = parameter(name + ".weight", {outputs, channels(skip) + up_channels, axes[0].kernel,
                                                      axes[1].kernel, axes[2].kernel});
  const std::int64_t count = skip_first ? channels(skip) : up_channels;
  const NodeId split =
      graph.add("split", name + ".weights", {weight}, {{"axis", 1}, {"count", static_cast<double>(count)}});
  Halves halves;
  halves.of_skip = graph.node(split).outputs[skip_first ? 0 : 1];
  halves.of_up = graph.node(split).outputs[skip_first ? 1 : 0];
  halves.attributes = attributes_of(axes);
  halves.sum = graph.apply("conv3d", name + ".skip", operands(skip, halves.of_skip, name, outputs, bias),
                           halves.attributes);
  return halves;
}

ValueId NetworkBuilder::with_convolution_of_up(const std::string& name, const Halves& halves, ValueId up) {
  return graph.apply("conv3d_sum", name, {up, halves.of_up, halves.sum}, halves.attributes);
}

ValueId NetworkBuilder::transposed_convolution(const std::string& name, ValueId x, std::int64_t outputs,
                                               const KernelAxes& axes) {
  const ValueId weight =
      parameter(name + ".weight", {channels(x), outputs, axes[0].kernel, axes[1].kernel, axes[2].kernel});
  const ValueId bias = parameter(name + ".bias", {outputs});
  const Shape& small = graph.value(x).shape;
  Attributes attributes = attributes_of(axes);
  attributes.set("d", static_cast<double>(axes[0].stride * small[1]));
  attributes.set("h", static_cast<double>(axes[1].stride * small[2]));
  attributes.set("w", static_cast<double>(axes[2].stride * small[3]));
  return graph.apply("conv3d_data_gradient", name, {x, weight, bias}, attributes);
}

ValueId NetworkBuilder::norm_activation(const std::string& name, ValueId x, ValueId scale, ValueId residual) {
  return normed(name, x, options.slope, scale, residual);
}

ValueId NetworkBuilder::norm(const std::string& name, ValueId x, ValueId residual) {
  return normed(name, x, /*slope=*/1, none, residual);
}

ValueId NetworkBuilder::normed(const std::string& name, ValueId x, double slope, ValueId scale,
                               ValueId residual) {
  const ValueId gamma = parameter(name + ".norm.weight", {channels(x)});
  const ValueId beta = parameter(name + ".norm.bias", {channels(x)});
  const ValueId statistics =
      graph.apply("instance_norm_statistics", name + ".norm", {x}, {{"epsilon", 1e-5}});
  std::vector<ValueId> inputs = {x, statistics, gamma, beta};
  if (scale != none) inputs.push_back(scale);
  if (residual != none) inputs.push_back(residual);
  return graph.apply("norm_activation", name, inputs,
                     {{"slope", slope},
                      {"has_scale", scale != none ? 1.0 : 0.0},
                      {"has_residual", residual != none ? 1.0 : 0.0}});
}

ValueId NetworkBuilder::batch_norm(const std::string& name, ValueId x, double slope, ValueId scale,
                                   ValueId residual) {
  constexpr double epsilon = 1e-5, momentum = 0.1;
  const Shape shape = graph.value(x).shape;
  const ValueId gamma = parameter(name + ".weight", {channels(x)});
  const ValueId beta = parameter(name + ".bias", {channels(x)});
  const ValueId mean = parameter(name + ".running_mean", {channels(x)});
  const ValueId variance = parameter(name + ".running_var", {channels(x)});
  ValueId statistics;
  const bool frozen = is_frozen(options, name + ".running_mean");
  if (training && !frozen) {
    const ValueId each =
        graph.apply("instance_norm_statistics", name + ".samples", {x}, {{"epsilon", epsilon}});
    statistics = graph.apply("statistics_of_batch", name + ".statistics", {each}, {{"epsilon", epsilon}});
    graph.add("running_statistics_update", name + ".running", {statistics},
              {{"epsilon", epsilon},
               {"momentum", momentum},
               {"count", static_cast<double>(shape.count() / shape[4])}},
              {mean, variance});
  } else {
    statistics = graph.apply("running_statistics", name + ".statistics", {mean, variance},
                             {{"n", static_cast<double>(shape[0])}, {"epsilon", epsilon}});
  }
  std::vector<ValueId> inputs = {x, statistics, gamma, beta};
  if (scale != none) inputs.push_back(scale);
  if (residual != none) inputs.push_back(residual);
  return graph.apply("norm_activation", name, inputs,
                     {{"slope", slope},
                      {"has_scale", scale != none ? 1.0 : 0.0},
                      {"has_residual", residual != none ? 1.0 : 0.0},
                      {frozen ? "constant" : "batch", 1}});
}

ValueId NetworkBuilder::average(const std::string& name, ValueId x) {
  const Shape& shape = graph.value(x).shape;
  return graph.apply("average_pool", name, {x},
                     {{"voxels", static_cast<double>(shape[1] * shape[2] * shape[3])}});
}

ValueId NetworkBuilder::everywhere(const std::string& name, ValueId x, const Shape& like) {
  return graph.apply("average_pool_gradient", name, {x},
                     {{"d", static_cast<double>(like[1])},
                      {"h", static_cast<double>(like[2])},
                      {"w", static_cast<double>(like[3])},
                      {"voxels", 1}});
}

ValueId NetworkBuilder::resize(const std::string& name, ValueId x, const Shape& like) {
  return graph.apply("resize_linear", name, {x},
                     {{"d", static_cast<double>(like[1])},
                      {"h", static_cast<double>(like[2])},
                      {"w", static_cast<double>(like[3])}});
}

ValueId NetworkBuilder::dropout_scale(const std::string& name, ValueId x) {
  if (!training || options.dropout == 0) return none;
  const Shape& shape = graph.value(x).shape;
  return graph.apply("spatial_dropout_scale", name, {},
                     {{"n", static_cast<double>(shape[0])},
                      {"c", static_cast<double>(shape[4])},
                      {"rate", options.dropout},
                      {"key", static_cast<double>(dropouts_++)},
                      {"type", static_cast<double>(full_type())}});
}

ValueId NetworkBuilder::full_precision(const std::string& name, ValueId x) {
  if (activations == full_type()) return x;
  return graph.apply("cast", name, {x}, {{"type", static_cast<double>(full_type())}});
}

}  // namespace voxswap::net
