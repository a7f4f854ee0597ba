// Replaces onnx_file.cpp in builds without the ONNX library.
#include "base/error.h"
#include "pipeline/export/onnx_graph.h"

namespace voxswap::pipeline {

std::string onnx_file(const OnnxGraph&, const std::string&, const std::map<std::string, std::string>&) {
  fail(Exit::usage,
       "this voxswap was built without the ONNX library. Use --to pytorch, or install it (Debian: "
       "libonnx-dev) and build again");
}

std::string onnx_library() {
  return {};
}

}  // namespace voxswap::pipeline
