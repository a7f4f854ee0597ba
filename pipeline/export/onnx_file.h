// Writes a network as an .onnx file, if the program was built with the ONNX library.
#pragma once

#include <map>
#include <string>

#include "pipeline/export/onnx_graph.h"

namespace voxswap::pipeline {

// The format's own checker has looked at it. `about` becomes its metadata. Throws Exit::usage where the
// program was built without the library, Exit::failed for what does not fit into a file of the format (2
// GiB).
std::string onnx_file(const OnnxGraph& graph, const std::string& name,
                      const std::map<std::string, std::string>& about);

std::string onnx_library();  // for `voxswap info`; empty: there is none

}  // namespace voxswap::pipeline
