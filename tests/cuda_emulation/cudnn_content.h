// The content of a descriptor of cuDNN's graph API: typed attributes by name, including other descriptors.
#pragma once

#include <cudnn.h>

#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

namespace voxswap::emulation {

using Name = cudnnBackendAttributeName_t;

struct Content;
using Descriptor = std::shared_ptr<Content>;

struct Attribute {
  cudnnBackendAttributeType_t type = CUDNN_TYPE_INT64;
  std::vector<std::byte> bytes;
  std::vector<Descriptor> descriptors;
};

struct Content {
  cudnnBackendDescriptorType_t type;
  bool finalized = false;
  std::map<Name, Attribute> attributes;

  bool has(Name name) const { return attributes.contains(name); }
  template <class T>
  std::vector<T> all(Name name) const {
    const auto found = attributes.find(name);
    if (found == attributes.end()) return {};
    std::vector<T> values(found->second.bytes.size() / sizeof(T));
    std::memcpy(values.data(), found->second.bytes.data(), values.size() * sizeof(T));
    return values;
  }
  template <class T>
  T one(Name name) const {
    return all<T>(name).at(0);
  }
  const std::vector<Descriptor>& descriptors(Name name) const { return attributes.at(name).descriptors; }
  const Content& descriptor(Name name) const { return *descriptors(name).at(0); }
  template <class T>
  void put(Name name, cudnnBackendAttributeType_t type_of_values, const std::vector<T>& values) {
    Attribute& attribute = attributes[name];
    attribute.type = type_of_values;
    const auto* begin = reinterpret_cast<const std::byte*>(values.data());
    attribute.bytes.assign(begin, begin + values.size() * sizeof(T));
  }
};

}  // namespace voxswap::emulation
