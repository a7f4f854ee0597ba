#include "pipeline/checkpoint.h"

#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"

namespace voxswap {

static_assert(std::endian::native == std::endian::little, "safetensors is little-endian");

namespace {

std::string header_text(const Checkpoint& checkpoint) {
  nlohmann::ordered_json header;
  header["__metadata__"] = checkpoint.metadata;
  std::size_t offset = 0;
  for (const Tensor& tensor : checkpoint.tensors) {
    const std::size_t end = offset + tensor.values.size() * sizeof(float);
    header[tensor.name] = {
        {"dtype", "F32"}, {"shape", tensor.shape.extents()}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // the format asks for aligned data
  return text;
}

Tensor read_tensor(const std::string& name, const nlohmann::ordered_json& entry, std::string_view data) {
  if (entry.at("dtype") != "F32") throw std::runtime_error("tensor '" + name + "' is not F32");
  Tensor tensor{name, Shape(entry.at("shape").get<std::vector<std::int64_t>>()), {}};
  const auto [begin, end] = entry.at("data_offsets").get<std::pair<std::size_t, std::size_t>>();
  const auto bytes = static_cast<std::size_t>(tensor.shape.count()) * sizeof(float);
  if (end > data.size() || begin > end || end - begin != bytes) {
    throw std::runtime_error("tensor '" + name + "' lies outside the file");
  }
  tensor.values.resize(bytes / sizeof(float));
  std::memcpy(tensor.values.data(), data.data() + begin, bytes);
  return tensor;
}

}  // namespace

const Tensor& Checkpoint::tensor(const std::string& name, const std::string& where) const {
  for (const Tensor& candidate : tensors) {
    if (candidate.name == name) return candidate;
  }
  fail(Exit::bad_data, "{}: has no tensor '{}'; it was made by another network", where, name);
}

const std::string& Checkpoint::text(const std::string& key, const std::string& where) const {
  const auto found = metadata.find(key);
  if (found == metadata.end())
    fail(Exit::bad_data, "{}: says nothing about '{}'; it is no voxswap checkpoint", where, key);
  return found->second;
}

void write_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint) {
  const std::string header = header_text(checkpoint);
  const std::uint64_t size = header.size();
  write_file(path, [&](const Append& append) {
    append(&size, sizeof size);
    append(header.data(), header.size());
    for (const Tensor& tensor : checkpoint.tensors)
      append(tensor.values.data(), tensor.values.size() * sizeof(float));
  });
}

Checkpoint read_checkpoint(const std::filesystem::path& path) {
  const std::string content = read_file(path);
  try {
    std::uint64_t size = 0;
    if (content.size() < sizeof size) throw std::runtime_error("it is cut off");
    std::memcpy(&size, content.data(), sizeof size);
    if (size > content.size() - sizeof size) throw std::runtime_error("it is cut off");
    const std::string_view all(content);
    const auto header = nlohmann::ordered_json::parse(all.substr(sizeof size, size));
    const std::string_view data = all.substr(sizeof size + size);
    Checkpoint checkpoint;
    for (const auto& [name, entry] : header.items()) {
      if (name == "__metadata__") {
        checkpoint.metadata = entry.get<std::map<std::string, std::string>>();
      } else {
        checkpoint.tensors.push_back(read_tensor(name, entry, data));
      }
    }
    return checkpoint;
  } catch (const std::exception& error) {
    fail(Exit::bad_data, "{}: is no readable safetensors file: {}", path.string(), error.what());
  }
}

}  // namespace voxswap
