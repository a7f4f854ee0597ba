// A network as an ONNX graph: tensors are N,C,D,H,W (N,C,H,W for images) with dynamic batch and spatial
// sizes. Does not need the ONNX library.
//
// Uses only widely supported operators. Instance norm is decomposed, since several runtimes do not support it
// on volumes. A convolution of an upsampled volume, which we compute on the small one, is exported in its
// published form: Resize and Conv. A transposed convolution becomes a Conv with kernel 1 followed by a
// rearrangement of channels.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "net/networks/network.h"
#include "pipeline/record/checkpoint.h"

namespace voxswap::pipeline {

struct OnnxConstant {
  std::string name;
  std::vector<std::int64_t> shape;
  std::variant<std::vector<float>, std::vector<std::int64_t>> values;
};

using OnnxAttribute = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>>;

struct OnnxNode {
  std::string operation;
  std::vector<std::string> inputs;  // "": omitted
  std::string output;               // also the node's name
  std::vector<std::pair<std::string, OnnxAttribute>> attributes;
};

struct OnnxGraph {
  std::vector<OnnxNode> nodes;  // topologically sorted
  std::vector<OnnxConstant> constants;
  std::string input = "image", output = "probabilities";
  // Without the batch axis. Spatial sizes are those of the run; the graph accepts multiples of multiple_of
  // along each spatial axis.
  std::vector<std::int64_t> input_shape, output_shape, multiple_of;
};

constexpr std::int64_t onnx_operators = 13;  // opset version

struct OnnxOptions {
  bool images = false;      // 2D: volumes of one plane lose that axis
  bool classifies = false;  // output N,C: classes of the image instead of its pixels
  bool softmax = false;     // false: sigmoid of the logits
};

// `network`: inference graph of one sample in f32. `weights`: all its parameters. Throws Exit::failed for an
// operation that cannot be translated.
OnnxGraph onnx_graph(const net::ForwardGraph& network, const std::vector<Tensor>& weights,
                     const OnnxOptions& options);

// Serialises the graph as an .onnx file and runs ONNX's model checker. `about` becomes the model's metadata.
// Throws Exit::usage in builds without the ONNX library, Exit::failed if the model exceeds the format's limit
// of 2 GiB.
std::string onnx_file(const OnnxGraph& graph, const std::string& name,
                      const std::map<std::string, std::string>& about);

std::string onnx_library();  // for `voxswap info`; empty without the library

}  // namespace voxswap::pipeline
