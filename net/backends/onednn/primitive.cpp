// Runs a oneDNN primitive through the C function, which takes an array of arguments. The C++ one would build
// one on each call.
#include "net/backends/onednn/primitive.h"

namespace voxswap::net::onednn {

const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

Primitive::Primitive(dnnl::primitive primitive, const dnnl::memory::desc& scratchpad, WorkspacePlan& plan)
    : primitive_(std::move(primitive)),
      stream_(engine()),
      scratchpad_(plan.book(static_cast<std::int64_t>(scratchpad.get_size()))) {
  argument(DNNL_ARG_SCRATCHPAD, scratchpad);
}

std::size_t Primitive::argument(int kind, const dnnl::memory::desc& description) {
  memories_.emplace_back(description, engine(), nullptr);
  arguments_.push_back({kind, memories_.back().get()});
  return memories_.size() - 1;
}

void Primitive::point(std::size_t argument, const void* data) {
  memories_[argument].set_data_handle(const_cast<void*>(data));  // inputs are only read
}

void Primitive::run(const KernelArguments& arguments) {
  if (memories_[0].get_desc().get_size() > 0) point(0, place<std::byte>(arguments, scratchpad_));
  const auto status = dnnl_primitive_execute(primitive_.get(), stream_.get(),
                                             static_cast<int>(arguments_.size()), arguments_.data());
  dnnl::error::wrap_c_api(status, "oneDNN could not run a primitive");
}

}  // namespace voxswap::net::onednn
