#include "swap/execute/resolved_step.h"

#include <cassert>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/shape.h"
#include "net/backends/backend.h"
#include "net/graph/operation.h"
#include "swap/execute/poison.h"
#include "swap/plan/plan.h"

namespace voxswap::swap {

namespace {

class Resolver {
 public:
  Resolver(CompiledGraph& compiled, const Plan& plan, const StepParts& parts)
      : compiled_(compiled),
        backend_(compiled.backend()),
        graph_(compiled.graph()),
        plan_(plan),
        parts_(parts) {}

  ResolvedStep run() {
    std::size_t count = 0;
    for (const Instruction& instruction : plan_.instructions)
      if (instruction.kind == Instruction::Kind::run) {
        const net::Node& node = graph_.node(instruction.node);
        count += node.inputs.size() + node.outputs.size() + node.updates.size();
      }
    step_.addresses.reserve(count);  // keeps the spans into it valid
    step_.commands.reserve(plan_.instructions.size());
    for (std::int32_t i = 0; index(i) < plan_.instructions.size(); ++i) {
      step_.commands.push_back(command(i, plan_.instructions[index(i)]));
      add_waits(i);
    }
    return std::move(step_);
  }

 private:
  StepCommand command(std::int32_t i, const Instruction& instruction) {
    StepCommand result;
    result.lane = instruction.lane();
    result.begun = backend_.make_event();
    result.done = backend_.make_event();
    switch (instruction.kind) {
      case Instruction::Kind::run:
        result.kernel = &compiled_.kernel(instruction.node);
        result.arguments = arguments(i, instruction.node);
        return result;
      case Instruction::Kind::copy_out:
      case Instruction::Kind::copy_in: {
        std::byte* device = address(instruction.value, i) + instruction.begin;
        std::byte* host = host_address(instruction);
        const bool out = instruction.kind == Instruction::Kind::copy_out;
        result.to = out ? host : device;
        result.from = out ? device : host;
        result.bytes = instruction.bytes;
        if (parts_.streamed.is_input(instruction.value)) {
          result.lent = parts_.streamed.source(instruction.value);
          result.lent_begin = instruction.begin;
        }
        if (parts_.links[index(result.lane)])
          result.number = parts_.links[index(result.lane)]->add_copy(result.bytes);
        return result;
      }
      case Instruction::Kind::write_disk:
      case Instruction::Kind::read_disk:
        if (instruction.host + whole_blocks(instruction.bytes) > parts_.tiers.host->bytes())
          fail(Exit::failed, "instruction {}: the last block of a disk access is outside the host pool", i);
        step_.accesses.push_back(
            std::make_unique<DiskAccess>(*parts_.tiers.disk, instruction, parts_.tiers.host->data()));
        result.kernel = step_.accesses.back().get();
        return result;
    }
    return result;
  }

  net::KernelArguments arguments(std::int32_t i, net::NodeId id) {
    const auto span_of = [&](const std::vector<net::ValueId>& values) {
      const std::size_t begin = step_.addresses.size();
      for (const net::ValueId value : values) step_.addresses.push_back(address(value, i));
      return std::span<void* const>(step_.addresses.data() + begin, values.size());
    };
    const net::Node& node = graph_.node(id);
    net::KernelArguments result;
    result.inputs = span_of(node.inputs);
    result.outputs = span_of(node.outputs);
    result.updates = span_of(node.updates);
    if (const Residency* place = parts_.places.of_workspace(id, i))
      result.workspace = parts_.tiers.arena->data() + place->offset;
    result.context = &parts_.context;
    return result;
  }

  // REQUIRES: resident at this instruction (checked by verify()).
  std::byte* address(net::ValueId value, std::int32_t i) const {
    return parts_.tiers.arena->data() + parts_.places.of_value(value, i)->offset;
  }

  // The host address of a copy; null for a streamed input, which has another address in every step.
  std::byte* host_address(const Instruction& copy) const {
    if (parts_.streamed.is_input(copy.value)) return nullptr;
    if (std::byte* result = parts_.streamed.result(copy.value)) return result + copy.begin;
    return parts_.tiers.host->data() + copy.host;
  }

  void add_waits(std::int32_t i) {
    StepCommand& later = step_.commands[index(i)];
    for (const std::int32_t earlier : plan_.instructions[index(i)].waits)
      later.waits.push_back(ready(step_.commands[index(earlier)]));
    if (parts_.serial && i > 0 && step_.commands[index(i - 1)].lane != later.lane)
      later.waits.push_back(ready(step_.commands[index(i - 1)]));
  }
  net::Event* ready(StepCommand& command) const {
    if (!command.ready) command.ready = make_order_event(backend_);
    return command.ready.get();
  }

  CompiledGraph& compiled_;
  net::Backend& backend_;
  const net::Graph& graph_;
  const Plan& plan_;
  StepParts parts_;
  ResolvedStep step_;
};

}  // namespace

std::unique_ptr<net::Event> make_order_event(net::Backend& backend) {
  if (auto* const device = dynamic_cast<net::OrderEventMaker*>(&backend)) return device->make_order_event();
  return backend.make_event();
}

ResolvedStep resolve(CompiledGraph& compiled, const Plan& plan, const StepParts& parts) {
  return Resolver(compiled, plan, parts).run();
}

CompiledGraph::CompiledGraph(net::Backend& backend, net::Graph graph, net::Exchange* exchange)
    : backend_(&backend),
      exchanges_on_host_(exchange == nullptr || exchange->on_host()),
      guard_bytes_(poisoning_wanted() ? swap::guard_bytes : 0),
      graph_(std::move(graph)) {
  for (const net::Node& node : graph_.nodes()) {
    throw_if_interrupted();  // measuring kernels takes a minute on some GPUs
    const bool exchanges = net::is_exchange(node);
    assert((!exchanges || exchange != nullptr) && "a graph for several ranks needs a communicator");
    kernels_.push_back(exchanges ? exchange->make_kernel(graph_, node) : backend.compile(graph_, node));
    const std::int64_t bytes = kernels_.back()->workspace_bytes();
    workspaces_.push_back(bytes > 0 ? bytes + guard_bytes_ : 0);
  }
}

}  // namespace voxswap::swap
