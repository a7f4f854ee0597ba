#include "pipeline/export/imported_weights.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "pipeline/record/starting_weights.h"

namespace voxswap::pipeline {

namespace {

// Takes away what every name begins with.
void strip(std::vector<Tensor>& tensors, const std::string& prefix) {
  const auto has = [&](const Tensor& tensor) { return tensor.name.starts_with(prefix); };
  if (!std::all_of(tensors.begin(), tensors.end(), has)) return;
  for (Tensor& tensor : tensors) tensor.name.erase(0, prefix.size());
}

// nnU-Net's modules hold their parts a second time, in a list and in the decoder, and have logits on all
// levels, whether they were trained or not.
void leave_out_nnunet_copies(std::vector<Tensor>& tensors, const net::ForwardGraph& network) {
  const auto is_there = [&](const std::string& name) {
    return std::any_of(network.parameters.begin(), network.parameters.end(),
                       [&](net::ValueId id) { return network.graph.value(id).name == name; });
  };
  std::erase_if(tensors, [&](const Tensor& tensor) {
    return tensor.name.find(".all_modules.") != tensor.name.npos ||
           tensor.name.starts_with("decoder.encoder.") ||
           (tensor.name.starts_with("decoder.seg_layers.") && !is_there(tensor.name));
  });
}

// "'a', 'b' and 7 more"
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i)
    text += std::string(i == 0 ? "" : ", ") + "'" + names[i] + "'";
  if (names.size() > most) text += format(" and {} more", names.size() - most);
  return text;
}

}  // namespace

std::vector<Tensor> imported_weights(const fs::path& file, const net::ForwardGraph& network) {
  std::vector<Tensor> given = read_checkpoint(file).tensors;
  for (const char* prefix : {"_orig_mod.", "module.", "_orig_mod."}) strip(given, prefix);
  leave_out_nnunet_copies(given, network);
  std::map<std::string, Tensor*> by_name;
  for (Tensor& tensor : given) by_name[tensor.name] = &tensor;

  std::vector<Tensor> weights;
  std::vector<std::string> missing, other, unknown;
  for (const net::ValueId id : network.parameters) {
    const net::Value& value = network.graph.value(id);
    const auto found = by_name.extract(value.name);
    if (found.empty()) {
      missing.push_back(value.name);
    } else if (as_volume(found.mapped()->shape) != value.shape) {
      other.push_back(
          format("{} ({}, not {})", value.name, found.mapped()->shape.text(), value.shape.text()));
    } else {
      weights.push_back({value.name, value.shape, std::move(found.mapped()->values)});
    }
  }
  for (const auto& [name, tensor] : by_name) unknown.push_back(name);
  std::vector<std::string> troubles;
  if (!missing.empty()) troubles.push_back("lacks " + listed(missing));
  if (!other.empty()) troubles.push_back("has tensors of other shapes: " + listed(other));
  if (!unknown.empty()) troubles.push_back("has tensors that the network does not have: " + listed(unknown));
  if (!troubles.empty())
    fail(Exit::bad_data, "{}: does not hold the weights of the run's network: it {}", file.string(),
         join(troubles, "; it "));
  return weights;
}

}  // namespace voxswap::pipeline
