#include "swap/execute/streamed_values.h"

#include "base/error.h"
#include "swap/plan/arena.h"

namespace voxswap::swap {

StreamedValues::StreamedValues(net::Backend& backend, const net::Graph& graph, const Plan& plan)
    : backend_(backend), graph_(graph) {
  std::int64_t bytes = 0;
  for (const Streamed& streamed : plan.streamed) {
    const net::Value& value = graph.value(streamed.value);
    if (value.role == net::Role::input) {
      inputs_[streamed.value];
    } else {
      places_[streamed.value] = bytes;
      bytes += occupied(value.bytes());
    }
  }
  if (bytes > 0) results_ = backend.allocate_host(bytes);
}

void StreamedValues::lend(net::ValueId input, const void* bytes) {
  inputs_.at(input).bytes = static_cast<const std::byte*>(bytes);
}

std::byte* StreamedValues::own_memory(net::ValueId input) {
  std::unique_ptr<net::Memory>& own = inputs_.at(input).own;
  if (!own) own = backend_.allocate_host(graph_.value(input).bytes());
  return own->data();
}

void StreamedValues::check_lent() const {
  for (const auto& [id, input] : inputs_)
    if (input.bytes == nullptr)
      fail(Exit::failed, "'{}' is read by the step, but was not written before it", graph_.value(id).name);
}

void StreamedValues::take_back() {
  for (auto& [id, input] : inputs_) input.bytes = nullptr;
}

std::byte* StreamedValues::result(net::ValueId value) const {
  const auto place = places_.find(value);
  return place == places_.end() ? nullptr : results_->data() + place->second;
}

}  // namespace voxswap::swap
