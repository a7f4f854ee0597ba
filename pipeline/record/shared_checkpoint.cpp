#include "pipeline/record/shared_checkpoint.h"

#include <utility>

#include "base/json.h"

namespace voxswap::pipeline {

namespace {

// Everything but the numbers.
std::string description_of(const Checkpoint& checkpoint) {
  Json json = {{"metadata", checkpoint.metadata}, {"digest", checkpoint.digest}, {"tensors", Json::array()}};
  for (const Tensor& tensor : checkpoint.tensors)
    json["tensors"].push_back({{"name", tensor.name}, {"shape", tensor.shape.extents()}});
  return json.dump();
}

Checkpoint described(const std::string& description) {
  const Json json = Json::parse(description);
  Checkpoint checkpoint;
  checkpoint.metadata = json.at("metadata").get<std::map<std::string, std::string>>();
  checkpoint.digest = json.at("digest").get<std::string>();
  for (const Json& one : json.at("tensors")) {
    Tensor tensor{
        one.at("name").get<std::string>(), Shape(one.at("shape").get<std::vector<std::int64_t>>()), {}};
    tensor.values.resize(static_cast<std::size_t>(tensor.shape.count()));
    checkpoint.tensors.push_back(std::move(tensor));
  }
  return checkpoint;
}

}  // namespace

std::optional<Checkpoint> broadcast(net::Ranks& ranks, std::optional<Checkpoint> checkpoint) {
  if (ranks.is_alone()) return checkpoint;
  const std::string description = net::broadcast(ranks, checkpoint ? description_of(*checkpoint) : "");
  if (description.empty()) return std::nullopt;
  if (!ranks.is_first()) checkpoint = described(description);
  for (Tensor& tensor : checkpoint->tensors)
    net::broadcast(ranks, tensor.values.data(),
                   static_cast<std::int64_t>(tensor.values.size() * sizeof(float)));
  return checkpoint;
}

}  // namespace voxswap::pipeline
