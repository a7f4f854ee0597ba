// A kernel made from a function of KernelArguments, and helpers to access its arrays, for backends with
// kernels of our own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "net/backends/backend.h"

namespace voxswap::net {

template <class Function>
class FunctionKernel final : public Kernel {
 public:
  FunctionKernel(Function function, std::int64_t workspace, std::string implementation)
      : function_(std::move(function)), workspace_(workspace), implementation_(std::move(implementation)) {}
  std::int64_t workspace_bytes() const override { return workspace_; }
  std::string implementation() const override { return implementation_; }
  void run(const KernelArguments& arguments) override { function_(arguments); }

 private:
  Function function_;
  std::int64_t workspace_;
  std::string implementation_;
};

template <class Function>
std::unique_ptr<Kernel> make_function_kernel(Function function, std::int64_t workspace,
                                             std::string implementation) {
  return std::make_unique<FunctionKernel<Function>>(std::move(function), workspace,
                                                    std::move(implementation));
}

template <class T>
const T* input(const KernelArguments& arguments, std::size_t index) {
  return static_cast<const T*>(arguments.inputs[index]);
}
template <class T>
T* output(const KernelArguments& arguments, std::size_t index = 0) {
  return static_cast<T*>(arguments.outputs[index]);
}

inline ElementType input_type(const Graph& graph, const Node& node, std::size_t index = 0) {
  return graph.value(node.inputs[index]).type;
}
inline const Shape& input_shape(const Graph& graph, const Node& node, std::size_t index = 0) {
  return graph.value(node.inputs[index]).shape;
}
inline const Shape& output_shape(const Graph& graph, const Node& node, std::size_t index = 0) {
  return graph.value(node.outputs[index]).shape;
}

// Offsets in a kernel's workspace, 64-byte aligned.
class WorkspacePlan {
 public:
  std::int64_t book(std::int64_t bytes) {  // returns the offset
    const std::int64_t offset = bytes_;
    bytes_ += (bytes + 63) / 64 * 64;
    return offset;
  }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::int64_t bytes_ = 0;
};
template <class T>
T* place(const KernelArguments& arguments, std::int64_t offset) {
  return reinterpret_cast<T*>(static_cast<std::byte*>(arguments.workspace) + offset);
}

}  // namespace voxswap::net
