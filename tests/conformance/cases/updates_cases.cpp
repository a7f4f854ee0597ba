// Cases of parameter updates, the loss scale and gradient clipping (net/ops/updates.cpp).
#include "tests/conformance/cases/cases.h"

namespace voxswap::net::cases {

namespace {

OperationCase adam_case(std::string name, const std::vector<Shape>& shapes, double weight_decay) {
  OperationCase result = {
      std::move(name),
      {},
      {{"beta1", 0.9}, {"beta2", 0.999}, {"epsilon", 1e-7}, {"weight_decay", weight_decay}},
      {}};
  for (const Shape& shape : shapes) {
    result.inputs.push_back(full(shape));
    result.updates.insert(result.updates.end(), {full(shape), full(shape), full(shape, Fill::positive)});
  }
  return result;
}

OperationCase sgd_case(std::string name, const std::vector<Shape>& shapes, double weight_decay) {
  OperationCase result = {std::move(name), {}, {{"momentum", 0.9}, {"weight_decay", weight_decay}}, {}};
  for (const Shape& shape : shapes) {
    result.inputs.push_back(full(shape));
    result.updates.insert(result.updates.end(), {full(shape), full(shape)});
  }
  return result;
}

OperationCase with(OperationCase example, const std::vector<Input>& more) {
  example.inputs.insert(example.inputs.end(), more.begin(), more.end());
  return example;
}

// Inputs of loss scaling, with finite or infinite gradients.
std::vector<Input> scaled(Fill finite) {
  return {full({3}, Fill::positive), full({1}, finite)};
}

// More parameters than one GPU launch takes, of one to seven elements.
std::vector<Shape> many() {
  std::vector<Shape> shapes;
  for (std::int64_t i = 0; i < 230; ++i) shapes.push_back({1 + i % 7});
  return shapes;
}

const Attributes usual = {{"interval", 3}, {"least", 1}, {"most", 8}, {"initial", 4}};

}  // namespace

Cases adam() {
  return {adam_case("weight", {{16, 4, 3, 3, 3}}, 0),
          adam_case("bias, with decay", {{5}}, 0.01),
          adam_case("one", {{1}}, 0),
          adam_case("weight, with decay", {{3, 20, 1, 1, 1}}, 0.1),
          adam_case("three, odd counts", {{33}, {7, 5, 3, 3, 3}, {1}}, 0.1),
          adam_case("two, one of several blocks", {{16}, {20, 80, 3, 3, 3}}, 0),
          adam_case("many", many(), 0.01),
          with(adam_case("scaled", {{16, 5, 3, 3, 3}}, 0.01), scaled(Fill::positive)),
          with(adam_case("three, scaled", {{1}, {263}, {16, 5, 1, 1, 1}}, 0.01), scaled(Fill::positive)),
          with(adam_case("scaled, not finite", {{7}}, 0.01), scaled(Fill::zeros)),
          with(adam_case("three, scaled, not finite", {{7}, {64}, {2}}, 0.01), scaled(Fill::zeros)),
          with(adam_case("clipped", {{20, 80, 3, 3, 3}, {16}}, 0.01), {full({1}, Fill::positive)}),
          with(with(adam_case("scaled and clipped", {{1}, {263}}, 0), scaled(Fill::positive)),
               {full({1}, Fill::positive)})};
}

Cases sgd() {
  return {sgd_case("weight", {{16, 4, 3, 3, 3}}, 0),
          sgd_case("bias, with decay", {{5}}, 0.01),
          sgd_case("three, odd counts", {{33}, {7, 5, 3, 3, 3}, {1}}, 0.1),
          with(sgd_case("clipped", {{20, 80, 3, 3, 3}, {16}}, 0.01), {full({1}, Fill::positive)}),
          with(sgd_case("scaled", {{16, 5, 3, 3, 3}, {7}}, 0.01), scaled(Fill::positive)),
          with(sgd_case("scaled, not finite", {{7}}, 0), scaled(Fill::zeros)),
          with(with(sgd_case("scaled and clipped", {{1}, {263}}, 0), scaled(Fill::positive)),
               {full({1}, Fill::positive)})};
}

Cases loss_scale_seed() {
  return {{"one", {full({3}, Fill::positive)}, {}, {}}};
}

Cases all_finite() {
  return {{"all are", {full({16, 4, 3, 3, 3})}, {}, {}},
          {"one number", {full({1}), full({1}, Fill::positive)}, {}, {}},
          {"one is not", {full({20, 5, 3, 3, 3}, Fill::one_infinite), full({1}, Fill::positive)}, {}, {}},
          {"many, one is not", {full({64, 64, 3, 3, 3}, Fill::one_infinite)}, {}, {}},
          {"all are, some before were not", {full({33}), full({1}, Fill::zeros)}, {}, {}}};
}

Cases loss_scale_update() {
  return {{"a good one", {full({1}, Fill::positive)}, usual, {full({3}, Fill::positive)}},
          {"a bad one", {full({1}, Fill::zeros)}, usual, {full({3}, Fill::positive)}},
          {"the first", {full({1}, Fill::positive)}, usual, {full({3}, Fill::zeros)}},
          {"each counts",
           {full({1}, Fill::positive)},
           {{"interval", 1}, {"least", 1}, {"most", 1e30}, {"initial", 4}},
           {full({3}, Fill::positive)}}};
}

Cases sum_of_squares() {
  return {{"one number", {full({1})}, {}, {}},
          {"a weight", {full({16, 4, 3, 3, 3})}, {}, {}},
          {"odd, behind another", {full({263}), full({1}, Fill::positive)}, {}, {}},
          {"many", {full({64, 64, 3, 3, 3}), full({1}, Fill::positive)}, {}, {}}};
}

Cases clip_factor() {
  return {{"too large", {full({1}, Fill::positive)}, {{"most", 0.01}}, {}},
          {"small enough", {full({1}, Fill::positive)}, {{"most", 1000}}, {}},
          {"nothing", {full({1}, Fill::zeros)}, {{"most", 1}}, {}},
          {"scaled", {full({1}, Fill::positive), full({3}, Fill::positive)}, {{"most", 0.1}}, {}}};
}

}  // namespace voxswap::net::cases
