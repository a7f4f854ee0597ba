// A slow interpreter of ONNX graphs in double precision, written after the specification of the operators. It
// knows only the operators that we export. Tests compare it with our own networks.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "pipeline/export/onnx_graph.h"

namespace voxswap::pipeline {

class OnnxInterpreter {
 public:
  using Sides = std::vector<std::int64_t>;
  struct Value {
    Sides sides;
    std::vector<double> numbers;
  };

  explicit OnnxInterpreter(const OnnxGraph& graph) : graph_(graph) {}

  Value run(Value image) {
    values_.clear();
    values_[graph_.input] = std::move(image);
    for (const OnnxConstant& constant : graph_.constants) {
      Value& value = values_[constant.name];
      value.sides = constant.shape;
      std::visit([&](const auto& numbers) { value.numbers.assign(numbers.begin(), numbers.end()); },
                 constant.values);
    }
    for (const OnnxNode& node : graph_.nodes) {
      node_ = &node;
      values_[node.output] = apply();
    }
    return values_.at(graph_.output);
  }

 private:
  static std::int64_t count(const Sides& sides) {
    return std::accumulate(sides.begin(), sides.end(), std::int64_t{1}, std::multiplies<>());
  }
  static Value empty(Sides sides) {
    const auto size = static_cast<std::size_t>(count(sides));
    return {std::move(sides), std::vector<double>(size)};
  }
  // Calls `visit` for every index of an array, in memory order.
  static void each(const Sides& sides, const std::function<void(const Sides&)>& visit) {
    Sides at(sides.size());
    for (std::int64_t n = count(sides); n-- > 0;) {
      visit(at);
      for (std::size_t axis = sides.size(); axis-- > 0;) {
        if (++at[axis] < sides[axis]) break;
        at[axis] = 0;
      }
    }
  }
  static std::size_t index(const Sides& sides, const Sides& at) {
    std::int64_t place = 0;
    for (std::size_t axis = 0; axis < sides.size(); ++axis) place = place * sides[axis] + at[axis];
    return static_cast<std::size_t>(place);
  }

  const Value& input(std::size_t i) const { return values_.at(node_->inputs.at(i)); }
  bool has_input(std::size_t i) const { return i < node_->inputs.size() && !node_->inputs[i].empty(); }
  template <class T>
  T attribute(const std::string& name) const {
    for (const auto& [key, value] : node_->attributes)
      if (key == name) return std::get<T>(value);
    throw std::runtime_error(node_->operation + " has no " + name);
  }
  Sides list(const std::string& name, std::int64_t otherwise, std::size_t size) const {
    for (const auto& [key, value] : node_->attributes)
      if (key == name) return std::get<Sides>(value);
    return Sides(size, otherwise);
  }

  Value each_number(const std::function<double(double)>& f) const {
    Value result = input(0);
    for (double& x : result.numbers) x = f(x);
    return result;
  }
  // Elementwise with NumPy's broadcasting.
  Value pairs(const std::function<double(double, double)>& f) const {
    const Value &a = input(0), &b = input(1);
    Sides sides(std::max(a.sides.size(), b.sides.size()));
    const auto side = [&](const Value& value, std::size_t axis) {
      const std::size_t ahead = sides.size() - value.sides.size();
      return axis < ahead ? 1 : value.sides[axis - ahead];
    };
    for (std::size_t axis = 0; axis < sides.size(); ++axis) {
      sides[axis] = std::max(side(a, axis), side(b, axis));
      if ((side(a, axis) != 1 && side(a, axis) != sides[axis]) ||
          (side(b, axis) != 1 && side(b, axis) != sides[axis]))
        throw std::runtime_error(node_->output + ": sides that cannot be broadcast");
    }
    const auto at_of = [&](const Value& value, const Sides& at) {
      Sides own(at.end() - static_cast<std::ptrdiff_t>(value.sides.size()), at.end());
      for (std::size_t axis = 0; axis < own.size(); ++axis)
        if (value.sides[axis] == 1) own[axis] = 0;
      return value.numbers[index(value.sides, own)];
    };
    Value result = empty(sides);
    std::size_t i = 0;
    each(sides, [&](const Sides& at) { result.numbers[i++] = f(at_of(a, at), at_of(b, at)); });
    return result;
  }

  // Applies a kernel that slides over the spatial axes: `take` receives every tap inside the input.
  Value slide(std::int64_t channels, const Sides& kernel, const std::function<double(const Sides&)>& begin,
              const std::function<void(double&, const Sides&, const Sides&, const Sides&)>& take) const {
    const Value& x = input(0);
    const std::size_t spatial = x.sides.size() - 2;
    const Sides strides = list("strides", 1, spatial), pads = list("pads", 0, 2 * spatial),
                dilations = list("dilations", 1, spatial);
    Sides sides = {x.sides[0], channels};
    for (std::size_t axis = 0; axis < spatial; ++axis)
      sides.push_back(
          (x.sides[axis + 2] + pads[axis] + pads[axis + spatial] - (kernel[axis] - 1) * dilations[axis] - 1) /
              strides[axis] +
          1);
    Value result = empty(sides);
    std::size_t i = 0;
    each(sides, [&](const Sides& at) {
      double& sum = result.numbers[i++];
      sum = begin(at);
      each(kernel, [&](const Sides& tap) {
        Sides from = at;
        for (std::size_t axis = 0; axis < spatial; ++axis) {
          from[axis + 2] = at[axis + 2] * strides[axis] - pads[axis] + tap[axis] * dilations[axis];
          if (from[axis + 2] < 0 || from[axis + 2] >= x.sides[axis + 2]) return;
        }
        take(sum, at, from, tap);
      });
    });
    return result;
  }
  Value convolve() const {
    const Value &x = input(0), &w = input(1);
    const Sides kernel(w.sides.begin() + 2, w.sides.end());
    if (kernel != list("kernel_shape", 0, kernel.size()) || w.sides[1] != x.sides[1])
      throw std::runtime_error(node_->output + ": weights of other sides");
    return slide(
        w.sides[0], kernel,
        [&](const Sides& at) {
          return has_input(2) ? input(2).numbers.at(static_cast<std::size_t>(at[1])) : 0.0;
        },
        [&](double& sum, const Sides& at, Sides from, const Sides& tap) {
          Sides place = {at[1], 0};
          place.insert(place.end(), tap.begin(), tap.end());
          for (from[1] = 0; from[1] < x.sides[1]; ++from[1]) {
            place[1] = from[1];
            sum += x.numbers[index(x.sides, from)] * w.numbers[index(w.sides, place)];
          }
        });
  }
  Value max_pool() const {
    const Value& x = input(0);
    return slide(
        x.sides[1], attribute<Sides>("kernel_shape"),
        [](const Sides&) { return -std::numeric_limits<double>::infinity(); },
        [&](double& most, const Sides&, const Sides& from, const Sides&) {
          most = std::max(most, x.numbers[index(x.sides, from)]);
        });
  }
  Value mean_over(const Sides& axes) const {
    const Value& x = input(0);
    Sides sides = x.sides;
    for (const std::int64_t axis : axes) sides[static_cast<std::size_t>(axis)] = 1;
    Value result = empty(sides);
    std::size_t i = 0;
    each(x.sides, [&](Sides at) {
      for (const std::int64_t axis : axes) at[static_cast<std::size_t>(axis)] = 0;
      result.numbers[index(sides, at)] += x.numbers[i++];
    });
    const double n = static_cast<double>(count(x.sides)) / static_cast<double>(count(sides));
    for (double& number : result.numbers) number /= n;
    return result;
  }
  Value batch_norm() const {
    Value result = input(0);
    std::size_t i = 0;
    each(result.sides, [&](const Sides& at) {
      const auto c = static_cast<std::size_t>(at[1]);
      double& x = result.numbers[i++];
      x = (x - input(3).numbers[c]) / std::sqrt(input(4).numbers[c] + attribute<float>("epsilon")) *
              input(1).numbers[c] +
          input(2).numbers[c];
    });
    return result;
  }
  Value resize() const {
    const Value& x = input(0);
    const bool linear = attribute<std::string>("mode") == "linear";
    EXPECT_EQ(attribute<std::string>("coordinate_transformation_mode"), linear ? "half_pixel" : "asymmetric");
    Sides sides = x.sides;
    for (std::size_t axis = 0; axis < sides.size(); ++axis)
      sides[axis] =
          linear ? static_cast<std::int64_t>(input(3).numbers.at(axis))
                 : static_cast<std::int64_t>(static_cast<double>(sides[axis]) * input(2).numbers.at(axis));
    Value result = empty(sides);
    std::size_t i = 0;
    each(sides, [&](const Sides& at) {
      double& sum = result.numbers[i++];
      each(Sides(sides.size(), 2), [&](const Sides& corner) {
        double share = 1;
        Sides from = at;
        for (std::size_t axis = 0; axis < sides.size(); ++axis) {
          const double ratio = static_cast<double>(x.sides[axis]) / static_cast<double>(sides[axis]);
          const double place = linear ? (static_cast<double>(at[axis]) + 0.5) * ratio - 0.5
                                      : std::floor(static_cast<double>(at[axis]) * ratio);
          const double low = std::floor(place);
          share *= corner[axis] == 0 ? 1 - (place - low) : place - low;
          from[axis] =
              std::clamp(static_cast<std::int64_t>(low) + corner[axis], std::int64_t{0}, x.sides[axis] - 1);
        }
        if (share > 0) sum += share * x.numbers[index(x.sides, from)];
      });
    });
    return result;
  }
  Value reshape() const {
    Value result = input(0);
    Sides sides;
    for (const double side : input(1).numbers)
      sides.push_back(side == 0 ? result.sides.at(sides.size()) : static_cast<std::int64_t>(side));
    if (count(sides) != count(result.sides)) throw std::runtime_error(node_->output + ": another size");
    result.sides = sides;
    return result;
  }
  Value transpose() const {
    const Value& x = input(0);
    const Sides order = attribute<Sides>("perm");
    Sides sides;
    for (const std::int64_t axis : order) sides.push_back(x.sides.at(static_cast<std::size_t>(axis)));
    Value result = empty(sides);
    std::size_t i = 0;
    each(sides, [&](const Sides& at) {
      Sides from(at.size());
      for (std::size_t axis = 0; axis < at.size(); ++axis)
        from[static_cast<std::size_t>(order[axis])] = at[axis];
      result.numbers[i++] = x.numbers[index(x.sides, from)];
    });
    return result;
  }
  Value softmax() const {
    EXPECT_EQ(attribute<std::int64_t>("axis"), 1);
    Value result = input(0);
    Sides sides = result.sides;
    sides[1] = 1;
    each(sides, [&](Sides at) {
      double sum = 0;
      for (at[1] = 0; at[1] < result.sides[1]; ++at[1])
        sum += std::exp(result.numbers[index(result.sides, at)]);
      for (at[1] = 0; at[1] < result.sides[1]; ++at[1]) {
        double& x = result.numbers[index(result.sides, at)];
        x = std::exp(x) / sum;
      }
    });
    return result;
  }
  Value shape() const {
    Value result = empty({static_cast<std::int64_t>(input(0).sides.size())});
    result.numbers.assign(input(0).sides.begin(), input(0).sides.end());
    return result;
  }
  Value slice() const {  // of a 1-D tensor
    const auto from = static_cast<std::ptrdiff_t>(input(1).numbers[0]),
               to = static_cast<std::ptrdiff_t>(input(2).numbers[0]);
    return {{to - from}, {input(0).numbers.begin() + from, input(0).numbers.begin() + to}};
  }
  Value concat() const {  // of 1-D tensors
    Value result = input(0);
    result.numbers.insert(result.numbers.end(), input(1).numbers.begin(), input(1).numbers.end());
    result.sides[0] += input(1).sides[0];
    return result;
  }
  Value flatten() const {
    Value result = input(0);
    result.sides = {result.sides[0], count(result.sides) / result.sides[0]};
    return result;
  }

  Value apply() const {
    const std::string& name = node_->operation;
    if (name == "Conv") return convolve();
    if (name == "MaxPool") return max_pool();
    if (name == "GlobalAveragePool") {
      Sides axes(input(0).sides.size() - 2);
      std::iota(axes.begin(), axes.end(), 2);
      return mean_over(axes);
    }
    if (name == "ReduceMean") return mean_over(attribute<Sides>("axes"));
    if (name == "BatchNormalization") return batch_norm();
    if (name == "Resize") return resize();
    if (name == "Reshape") return reshape();
    if (name == "Transpose") return transpose();
    if (name == "Softmax") return softmax();
    if (name == "Shape") return shape();
    if (name == "Slice") return slice();
    if (name == "Concat") return concat();
    if (name == "Flatten") return flatten();
    if (name == "Add") return pairs(std::plus<>());
    if (name == "Sub") return pairs(std::minus<>());
    if (name == "Mul") return pairs(std::multiplies<>());
    if (name == "Div") return pairs(std::divides<>());
    if (name == "Sqrt") return each_number([](double x) { return std::sqrt(x); });
    if (name == "Relu") return each_number([](double x) { return std::max(x, 0.0); });
    if (name == "Sigmoid") return each_number([](double x) { return 1 / (1 + std::exp(-x)); });
    if (name == "LeakyRelu") {
      const double slope = attribute<float>("alpha");
      return each_number([=](double x) { return x > 0 ? x : slope * x; });
    }
    throw std::runtime_error("the interpreter has no " + name);
  }

  const OnnxGraph& graph_;
  const OnnxNode* node_ = nullptr;
  std::map<std::string, Value> values_;
};

}  // namespace voxswap::pipeline
