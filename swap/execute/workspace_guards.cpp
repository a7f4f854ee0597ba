#include "swap/execute/workspace_guards.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/shape.h"

namespace voxswap::swap {

WorkspaceGuards::WorkspaceGuards(CompiledGraph& compiled, const Plan& plan, const ResolvedStep& step)
    : graph_(compiled.graph()), guards_(plan.instructions.size()) {
  if (compiled.guard_bytes() == 0) return;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < guards_.size(); ++i) {
    const Instruction& instruction = plan.instructions[i];
    if (instruction.lane() != Lane::compute || step.commands[i].arguments.workspace == nullptr) continue;
    const std::int64_t bytes = compiled.workspaces()[index(instruction.node)] - guard_bytes;
    guards_[i].device = static_cast<std::byte*>(step.commands[i].arguments.workspace) + bytes;
    guards_[i].node = instruction.node;
    ++count;
  }
  if (count == 0) return;
  seen_ = compiled.backend().allocate_host(count * guard_bytes);
  std::memset(seen_->data(), 0xff, static_cast<std::size_t>(count * guard_bytes));
  std::byte* next = seen_->data();
  for (Guard& guard : guards_)
    if (guard.device != nullptr) {
      guard.host = next;
      next += guard_bytes;
    }
}

void WorkspaceGuards::fill(net::Stream& stream, std::size_t instruction, const Poison& poison) const {
  if (std::byte* device = guards_[instruction].device) poison.fill(stream, device, range_);
}

void WorkspaceGuards::copy_out(net::Stream& stream, std::size_t instruction) const {
  const Guard& guard = guards_[instruction];
  if (guard.device != nullptr) stream.copy(guard.host, guard.device, guard_bytes);
}

void WorkspaceGuards::check() const {
  for (const Guard& guard : guards_) {
    if (guard.device == nullptr) continue;
    const auto changed = std::find_if(guard.host, guard.host + guard_bytes,
                                      [](std::byte byte) { return byte != std::byte{0xff}; });
    if (changed != guard.host + guard_bytes)
      fail(Exit::failed, "the kernel of '{}' wrote beyond its workspace, at byte {} after its end",
           graph_.node(guard.node).name, changed - guard.host);
  }
}

}  // namespace voxswap::swap
