#include "net/graph/axes.h"

#include <algorithm>
#include <cassert>
#include <string>

namespace voxswap::net {

namespace {

constexpr std::array<const char*, 3> suffixes = {"_d", "_h", "_w"};

// The axis's own value, else the common one.
std::int64_t of_axis(const Attributes& attributes, const std::string& name, std::size_t axis,
                     std::int64_t otherwise) {
  return attributes.integer_or(name + suffixes[axis], attributes.integer_or(name, otherwise));
}

KernelAxes axes_of(const Attributes& attributes, const std::array<std::int64_t, 3>& kernel) {
  assert(attributes.integer("stride") > 0 && attributes.integer("padding") >= 0);
  KernelAxes axes;
  for (std::size_t i = 0; i < 3; ++i) {
    axes[i].kernel = kernel[i];
    axes[i].stride = of_axis(attributes, "stride", i, 1);
    axes[i].before = axes[i].behind = of_axis(attributes, "padding", i, 0);
    if (kernel[i] > 1) axes[i].dilation = of_axis(attributes, "dilation", i, 1);
  }
  axes[0].before = attributes.integer_or("front", axes[0].before);
  axes[0].behind = attributes.integer_or("back", axes[0].behind);
  return axes;
}

// Writes the value of the width as the common one, and other axes only where they differ.
template <class Get>
void set_axes(Attributes& attributes, const std::string& name, const KernelAxes& axes, Get get) {
  const std::int64_t common = get(axes[2]);
  attributes.set(name, static_cast<double>(common));
  for (std::size_t i = 0; i < 2; ++i)
    if (get(axes[i]) != common) attributes.set(name + suffixes[i], static_cast<double>(get(axes[i])));
}

}  // namespace

std::int64_t KernelAxis::first_tap(std::int64_t output) const {
  const std::int64_t outside = -start(output);
  return outside <= 0 ? 0 : (outside + dilation - 1) / dilation;
}
std::int64_t KernelAxis::end_tap(std::int64_t output, std::int64_t side) const {
  const std::int64_t inside = side - start(output);
  return inside <= 0 ? 0 : std::min(kernel, (inside + dilation - 1) / dilation);
}

KernelAxes kernel_axes(const Attributes& attributes) {
  const std::int64_t common = attributes.integer("kernel");
  std::array<std::int64_t, 3> kernel{};
  for (std::size_t i = 0; i < 3; ++i) kernel[i] = of_axis(attributes, "kernel", i, common);
  return axes_of(attributes, kernel);
}

KernelAxes kernel_axes(const Attributes& attributes, const Shape& weights) {
  assert(weights.rank() == 5);
  return axes_of(attributes, {weights[2], weights[3], weights[4]});
}

std::int64_t taps(const KernelAxes& axes) {
  return axes[0].kernel * axes[1].kernel * axes[2].kernel;
}

bool is_pointwise(const KernelAxes& axes) {
  return axes == KernelAxes{};
}

KernelAxes cube(std::int64_t kernel, std::int64_t stride, std::int64_t padding, std::int64_t dilation) {
  const KernelAxis axis = {kernel, stride, padding, padding, dilation};
  return {axis, axis, axis};
}

KernelAxes square(std::int64_t kernel, std::int64_t stride, std::int64_t padding, std::int64_t dilation) {
  KernelAxes axes = cube(kernel, stride, padding, dilation);
  axes[0] = {};
  return axes;
}

KernelAxes of_rows(std::int64_t kernel, std::int64_t stride, std::int64_t padding, std::int64_t dilation) {
  KernelAxes axes = cube(kernel, stride, padding, dilation);
  axes[1] = {};
  return axes;
}

Attributes attributes_of(const KernelAxes& axes) {
  assert(axes[1].before == axes[1].behind && axes[2].before == axes[2].behind);
  Attributes attributes;
  set_axes(attributes, "stride", axes, [](const KernelAxis& axis) { return axis.stride; });
  KernelAxes padded = axes;
  padded[0].before = axes[2].before;  // along the depth, front and back override it
  set_axes(attributes, "padding", padded, [](const KernelAxis& axis) { return axis.before; });
  if (axes[0].before != axes[2].before || axes[0].behind != axes[2].before) {
    attributes.set("front", static_cast<double>(axes[0].before));
    attributes.set("back", static_cast<double>(axes[0].behind));
  }
  const bool dilated =
      std::any_of(axes.begin(), axes.end(), [](const KernelAxis& a) { return a.dilation > 1; });
  if (dilated) set_axes(attributes, "dilation", axes, [](const KernelAxis& axis) { return axis.dilation; });
  return attributes;
}

void set_kernel(Attributes& attributes, const KernelAxes& axes) {
  set_axes(attributes, "kernel", axes, [](const KernelAxis& axis) { return axis.kernel; });
}

Attributes kernel_attributes(const Attributes& attributes) {
  Attributes result;
  for (const auto& [name, value] : attributes.values()) {
    const bool of_axes = name.starts_with("stride") || name.starts_with("padding") ||
                         name.starts_with("dilation") || name == "front" || name == "back";
    if (of_axes) result.set(name, value);
  }
  return result;
}

Shape output_shape(const Shape& volume, const KernelAxes& axes, std::int64_t channels) {
  return {volume[0], axes[0].output_side(volume[1]), axes[1].output_side(volume[2]),
          axes[2].output_side(volume[3]), channels};
}

namespace {

// Binary search: the first output for which `after` is true.
template <class After>
std::int64_t first_for_which(std::int64_t outputs, After after) {
  std::int64_t low = 0, high = outputs;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (after(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

}  // namespace

LinearAxis::Between LinearAxis::between(std::int64_t output) const {
  const double ratio = static_cast<double>(side) / static_cast<double>(outputs);
  const double at = std::max((static_cast<double>(output) + 0.5) * ratio - 0.5, 0.0);
  const std::int64_t low = std::min(static_cast<std::int64_t>(at), side - 1);
  return {low, std::min(low + 1, side - 1), at - static_cast<double>(low)};
}

LinearAxis::Between LinearAxis::between_here(std::int64_t output) const {
  Between result = between(output + first_output);
  result.low -= first_side;
  result.high -= first_side;
  return result;
}

LinearAxis::Range LinearAxis::outputs_of(std::int64_t from, std::int64_t to) const {
  return {first_for_which(outputs, [&](std::int64_t o) { return between(o).high >= from; }),
          first_for_which(outputs, [&](std::int64_t o) { return between(o).low >= to; })};
}

LinearAxis linear_depth(const Attributes& attributes, const Shape& x, const Shape& y) {
  return {attributes.integer_or("x_depth", x[1]), attributes.integer_or("y_depth", y[1]),
          attributes.integer_or("x_first", 0), attributes.integer_or("y_first", 0)};
}

}  // namespace voxswap::net
