#include "net/backends/cuda/cudnn_descriptor.h"

#include <algorithm>
#include <utility>

#include "net/backends/cuda/libraries.h"

namespace voxswap::net::cuda {

Descriptor::Descriptor(cudnnBackendDescriptorType_t type) {
  check(cudnn_library().create_descriptor(type, &raw_), "cudnnBackendCreateDescriptor");
}
Descriptor::~Descriptor() {
  if (raw_ != nullptr) cudnn_library().destroy_descriptor(raw_);
}
Descriptor::Descriptor(Descriptor&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(raw_, other.raw_);
  return *this;
}

Descriptor& Descriptor::set(Name name, cudnnBackendAttributeType_t type, std::int64_t count,
                            const void* values) {
  check(cudnn_library().set_attribute(raw_, name, type, count, values), "cudnnBackendSetAttribute");
  return *this;
}
Descriptor& Descriptor::set(Name name, std::int64_t value) {
  return set(name, CUDNN_TYPE_INT64, 1, &value);
}
Descriptor& Descriptor::set(Name name, const std::vector<std::int64_t>& values) {
  return set(name, CUDNN_TYPE_INT64, static_cast<std::int64_t>(values.size()), values.data());
}
Descriptor& Descriptor::set(Name name, float value) {
  return set(name, CUDNN_TYPE_FLOAT, 1, &value);
}
Descriptor& Descriptor::set(Name name, bool value) {
  return set(name, CUDNN_TYPE_BOOLEAN, 1, &value);
}
Descriptor& Descriptor::set(Name name, cudnnDataType_t value) {
  return set(name, CUDNN_TYPE_DATA_TYPE, 1, &value);
}
Descriptor& Descriptor::set(Name name, cudnnHandle_t value) {
  return set(name, CUDNN_TYPE_HANDLE, 1, &value);
}
Descriptor& Descriptor::set(Name name, const Descriptor& value) {
  return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value.raw_);
}
Descriptor& Descriptor::set(Name name, const std::vector<const Descriptor*>& values) {
  std::vector<cudnnBackendDescriptor_t> raws;
  for (const Descriptor* value : values) raws.push_back(value->raw_);
  return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<std::int64_t>(raws.size()), raws.data());
}

Descriptor& Descriptor::finalize() {
  check(cudnn_library().finalize(raw_), "cudnnBackendFinalize");
  return *this;
}

bool Descriptor::try_finalize() {
  const cudnnStatus_t status = cudnn_library().finalize(raw_);
  if (CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_NOT_SUPPORTED) return false;
  check(status, "cudnnBackendFinalize");
  return true;
}

std::int64_t Descriptor::integer(Name name) const {
  std::int64_t value = 0, count = 0;
  check(cudnn_library().get_attribute(raw_, name, CUDNN_TYPE_INT64, 1, &count, &value),
        "cudnnBackendGetAttribute");
  return value;
}

std::vector<std::int32_t> Descriptor::enumeration(Name name, cudnnBackendAttributeType_t type,
                                                  std::size_t most) const {
  std::vector<std::int32_t> values(most);
  std::int64_t count = 0;
  check(
      cudnn_library().get_attribute(raw_, name, type, static_cast<std::int64_t>(most), &count, values.data()),
      "cudnnBackendGetAttribute");
  values.resize(std::min(most, static_cast<std::size_t>(count)));
  return values;
}

std::vector<Descriptor> Descriptor::descriptors(Name name, cudnnBackendDescriptorType_t type,
                                                std::size_t most) const {
  std::vector<Descriptor> result;
  std::vector<cudnnBackendDescriptor_t> raws;
  for (std::size_t i = 0; i < most; ++i) {
    result.emplace_back(type);
    raws.push_back(result.back().raw_);
  }
  std::int64_t count = 0;
  check(cudnn_library().get_attribute(raw_, name, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                      static_cast<std::int64_t>(most), &count, raws.data()),
        "cudnnBackendGetAttribute");
  result.resize(std::min(most, static_cast<std::size_t>(count)));
  return result;
}

}  // namespace voxswap::net::cuda
