// A network as ONNX has it: nodes of its operators on tensors N,C,D,H,W, or N,C,H,W of images, with a batch
// and sides of any size. Without the library that writes the file.
//
// Operators are those that every runtime takes: instance norm is decomposed, because several refuse the
// operator on volumes; a convolution of an upsampled volume, which we compute on the small one, is what it
// was published as, Resize and Conv; a transposed convolution is a Conv of kernel 1 whose channels are laid
// side by side.
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
  std::vector<std::string> inputs;  // "": left out
  std::string output;               // which names the node as well
  std::vector<std::pair<std::string, OnnxAttribute>> attributes;
};

struct OnnxGraph {
  std::vector<OnnxNode> nodes;  // each reads only what was made before
  std::vector<OnnxConstant> constants;
  std::string input = "image", output = "probabilities";
  // Without the batch. The sides behind the channels are those of the run; the graph takes all multiples of
  // multiple_of (of each spatial axis).
  std::vector<std::int64_t> input_shape, output_shape, multiple_of;
};

constexpr std::int64_t onnx_operators = 13;  // the version of the operators

struct OnnxOptions {
  bool images = false;      // volumes of one plane lose that axis
  bool classifies = false;  // the output is N,C: of the image, not of its pixels
  bool softmax = false;     // of the logits; else their sigmoid
};

// `network`: of one sample, in f32, for predictions; `weights`: all of its parameters. Throws Exit::failed
// for an operation that has no counterpart here.
OnnxGraph onnx_graph(const net::ForwardGraph& network, const std::vector<Tensor>& weights,
                     const OnnxOptions& options);

// Writes a network as an .onnx file, if the program was built with the ONNX library.
// The format's own checker has looked at it. `about` becomes its metadata. Throws Exit::usage where the
// program was built without the library, Exit::failed for what does not fit into a file of the format (2
// GiB).
std::string onnx_file(const OnnxGraph& graph, const std::string& name,
                      const std::map<std::string, std::string>& about);

std::string onnx_library();  // for `voxswap info`; empty: there is none

}  // namespace voxswap::pipeline
