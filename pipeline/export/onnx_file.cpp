#include <onnx/checker.h>
#include <onnx/common/version.h>
#include <onnx/onnx_pb.h>

#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "pipeline/export/onnx_graph.h"

namespace voxswap::pipeline {

namespace {

constexpr std::int64_t file_version = 7;  // ONNX IR version of this operator set

void set_attribute(onnx::AttributeProto& to, const OnnxAttribute& value) {
  if (const auto* const whole = std::get_if<std::int64_t>(&value)) {
    to.set_type(onnx::AttributeProto::INT);
    to.set_i(*whole);
  } else if (const auto* const real = std::get_if<float>(&value)) {
    to.set_type(onnx::AttributeProto::FLOAT);
    to.set_f(*real);
  } else if (const auto* const text = std::get_if<std::string>(&value)) {
    to.set_type(onnx::AttributeProto::STRING);
    to.set_s(*text);
  } else {
    to.set_type(onnx::AttributeProto::INTS);
    for (const std::int64_t one : std::get<std::vector<std::int64_t>>(value)) to.add_ints(one);
  }
}

void set_tensor(onnx::TensorProto& to, const OnnxConstant& constant) {
  to.set_name(constant.name);
  for (const std::int64_t side : constant.shape) to.add_dims(side);
  if (const auto* const reals = std::get_if<std::vector<float>>(&constant.values)) {
    to.set_data_type(onnx::TensorProto::FLOAT);
    to.set_raw_data(reals->data(), reals->size() * sizeof(float));
  } else {
    const auto& wholes = std::get<std::vector<std::int64_t>>(constant.values);
    to.set_data_type(onnx::TensorProto::INT64);
    to.set_raw_data(wholes.data(), wholes.size() * sizeof(std::int64_t));
  }
}

// Batch and spatial sizes are dynamic; the output has the spatial size of the input.
void set_place(onnx::ValueInfoProto& to, const std::string& name, const std::vector<std::int64_t>& shape) {
  to.set_name(name);
  auto* const tensor = to.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(onnx::TensorProto::FLOAT);
  auto& sides = *tensor->mutable_shape();
  sides.add_dim()->set_dim_param("batch");
  sides.add_dim()->set_dim_value(shape[0]);
  if (shape.size() == 4) sides.add_dim()->set_dim_param("depth");
  if (shape.size() > 1) {
    sides.add_dim()->set_dim_param("height");
    sides.add_dim()->set_dim_param("width");
  }
}

void set_graph(onnx::GraphProto& to, const OnnxGraph& graph) {
  for (const OnnxNode& from : graph.nodes) {
    onnx::NodeProto& node = *to.add_node();
    node.set_op_type(from.operation);
    node.set_name(from.output);
    for (const std::string& input : from.inputs) node.add_input(input);
    node.add_output(from.output);
    for (const auto& [name, value] : from.attributes) {
      onnx::AttributeProto& attribute = *node.add_attribute();
      attribute.set_name(name);
      set_attribute(attribute, value);
    }
  }
  for (const OnnxConstant& constant : graph.constants) set_tensor(*to.add_initializer(), constant);
  set_place(*to.add_input(), graph.input, graph.input_shape);
  set_place(*to.add_output(), graph.output, graph.output_shape);
}

}  // namespace

std::string onnx_file(const OnnxGraph& graph, const std::string& name,
                      const std::map<std::string, std::string>& about) {
  onnx::ModelProto model;
  model.set_ir_version(file_version);
  model.set_producer_name("voxswap");
  if (const auto version = about.find("voxswap"); version != about.end())
    model.set_producer_version(version->second);
  model.add_opset_import()->set_version(onnx_operators);
  for (const auto& [key, value] : about) {
    auto* const entry = model.add_metadata_props();
    entry->set_key(key);
    entry->set_value(value);
  }
  set_graph(*model.mutable_graph(), graph);
  model.mutable_graph()->set_name(name);
  if (model.ByteSizeLong() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    fail(Exit::failed, "{}: its weights take {}, but an ONNX file holds at most 2 GiB. Use --to pytorch",
         name, counted(model.ByteSizeLong(), "byte"));
  try {
    onnx::checker::check_model(model);
  } catch (const std::exception& error) {
    fail(Exit::failed, "{}: the exported model fails ONNX's check: {}", name, error.what());
  }
  return model.SerializeAsString();
}

std::string onnx_library() {
  return std::string("onnx ") + onnx::LAST_RELEASE_VERSION;
}

}  // namespace voxswap::pipeline
