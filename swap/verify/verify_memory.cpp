#include <optional>

#include "base/shape.h"
#include "swap/plan/places.h"
#include "swap/plan/plan.h"
#include "swap/plan/stream_order.h"
#include "swap/verify/checks.h"
#include "swap/verify/shadow.h"

namespace voxswap::swap {
namespace {

using Kind = Instruction::Kind;

// "instruction 7 (copy_out of 'x')"
std::string describe(const net::Graph& graph, const Plan& plan, std::int32_t at) {
  const Instruction& i = plan.instructions[index(at)];
  if (i.kind == Kind::run) return format("instruction {} (run of '{}')", at, graph.node(i.node).name);
  return format("instruction {} ({} of '{}')", at, kind_name(i.kind), graph.value(i.value).name);
}

class Walk {
 public:
  Walk(const net::Graph& graph, const std::vector<std::int64_t>& workspaces, const Plan& plan,
       Violations& violations)
      : graph_(graph),
        workspaces_(workspaces),
        plan_(plan),
        violations_(violations),
        places_(graph, plan),
        order_(plan),
        device_{"the arena", ShadowMemory(plan.peak_bytes, order_)},
        host_{"the host pool", ShadowMemory(plan.host_bytes + plan.streamed_bytes, order_)},
        disk_{"the scratch file", ShadowMemory(plan.disk_bytes, order_)},
        version_(graph.values().size(), 0) {}

  void run() {
    find_versions();
    put_what_is_there_before();
    for (std::int32_t i = 0; index(i) < plan_.instructions.size(); ++i) {
      const Instruction& instruction = plan_.instructions[index(i)];
      if (instruction.kind == Kind::run)
        run_node(i, instruction);
      else
        move(i, instruction);
    }
    check_end();
  }

 private:
  struct Memory {
    const char* name;
    ShadowMemory shadow;
  };

  // The version of each persistent value that a node reads: its number of earlier updates in the graph's
  // order.
  void find_versions() {
    std::vector<int> version(graph_.values().size(), 0);
    for (const net::Node& node : graph_.nodes()) {
      std::vector<int>& read = expected_.emplace_back();
      for (const net::ValueId value : node.inputs) read.push_back(version[index(value)]);
      for (const net::ValueId value : node.updates) read.push_back(version[index(value)]++);
    }
  }

  void put_what_is_there_before() {
    for (net::ValueId id = 0; index(id) < graph_.values().size(); ++id) {
      const net::Value& value = graph_.value(id);
      if (!value.persistent() && value.role != net::Role::input) continue;
      const Streamed* streamed = find_streamed(plan_, id);
      if (streamed != nullptr) host_.shadow.put(streamed->host, value.bytes(), {id, 0, streamed->host});
      if (const Residency* place = places_.of_value(id, 0))
        device_.shadow.put(place->offset, value.bytes(), {id, 0, place->offset});
      else if (streamed == nullptr && !places_.all(id).empty())
        violations_.add("'{}' is written before the step, but has no allocation at instruction 0",
                        value.name);
    }
  }

  void run_node(std::int32_t at, const Instruction& instruction) {
    const net::Node& node = graph_.node(instruction.node);
    const std::vector<int>& versions = expected_[index(instruction.node)];
    for (std::size_t i = 0; i < node.inputs.size(); ++i) read_value(at, node.inputs[i], versions[i]);
    for (std::size_t i = 0; i < node.updates.size(); ++i)
      read_value(at, node.updates[i], versions[node.inputs.size() + i]);
    if (const std::int64_t bytes = workspaces_[index(instruction.node)]; bytes > 0) {
      if (const Residency* place = places_.of_workspace(instruction.node, at))
        report(at, device_, {}, device_.shadow.write(place->offset, bytes, at, {}));
      else
        violations_.add("{} has no workspace", describe(graph_, plan_, at));
    }
    for (const net::ValueId value : node.outputs) write_value(at, value, 0);
    for (const net::ValueId value : node.updates) write_value(at, value, ++version_[index(value)]);
  }

  void read_value(std::int32_t at, net::ValueId id, int version) {
    const std::int64_t bytes = graph_.value(id).bytes();
    if (const Residency* place = find_place(at, id)) {
      const Content expected{id, version, place->offset};
      report(at, device_, expected, device_.shadow.read(place->offset, bytes, at, expected));
    }
  }
  void write_value(std::int32_t at, net::ValueId id, int version) {
    const std::int64_t bytes = graph_.value(id).bytes();
    if (const Residency* place = find_place(at, id)) {
      const Content content{id, version, place->offset};
      report(at, device_, content, device_.shadow.write(place->offset, bytes, at, content));
    }
  }
  const Residency* find_place(std::int32_t at, net::ValueId id) {
    const Residency* place = places_.of_value(id, at);
    if (place == nullptr)
      violations_.add("{} needs '{}', which is not resident then", describe(graph_, plan_, at),
                      graph_.value(id).name);
    return place;
  }

  void move(std::int32_t at, const Instruction& i) {
    const std::int64_t in_host = i.host - i.begin;  // offset of byte 0
    switch (i.kind) {
      case Kind::run:
        return;
      case Kind::copy_out:
        if (const Residency* place = find_place(at, i.value)) {
          read(at, device_, place->offset + i.begin, i.bytes, {i.value, 0, place->offset});
          write(at, host_, i.host, i.bytes, {i.value, 0, in_host});
        }
        return;
      case Kind::copy_in:
        read(at, host_, i.host, i.bytes, {i.value, 0, in_host});
        if (const Residency* place = find_place(at, i.value))
          write(at, device_, place->offset + i.begin, i.bytes, {i.value, 0, place->offset});
        return;
      case Kind::write_disk:
        read(at, host_, i.host, i.bytes, {i.value, 0, in_host});
        write(at, disk_, i.disk, i.bytes, {i.value, 0, i.disk - i.begin});
        pass_padding(at, i);
        return;
      case Kind::read_disk:
        read(at, disk_, i.disk, i.bytes, {i.value, 0, i.disk - i.begin});
        write(at, host_, i.host, i.bytes, {i.value, 0, in_host});
        pass_padding(at, i);
        return;
    }
  }

  // The padding of the last block of a disk access.
  void pass_padding(std::int32_t at, const Instruction& i) {
    const std::int64_t padding = whole_blocks(i.bytes) - i.bytes;
    if (padding == 0) return;
    const bool out = i.kind == Kind::write_disk;
    Memory &from = out ? host_ : disk_, &to = out ? disk_ : host_;
    const std::int64_t in_host = i.host + i.bytes, in_file = i.disk + i.bytes;
    report(at, from, {}, from.shadow.read(out ? in_host : in_file, padding, at, std::nullopt));
    write(at, to, out ? in_file : in_host, padding, {});
  }

  void read(std::int32_t at, Memory& memory, std::int64_t begin, std::int64_t bytes,
            const Content& expected) {
    report(at, memory, expected, memory.shadow.read(begin, bytes, at, expected));
  }
  void write(std::int32_t at, Memory& memory, std::int64_t begin, std::int64_t bytes,
             const Content& content) {
    report(at, memory, content, memory.shadow.write(begin, bytes, at, content));
  }

  void check_end() {
    const auto last = static_cast<std::int32_t>(plan_.instructions.size()) - 1;
    const auto check = [&](net::ValueId id, const char* what) {
      const net::Value& value = graph_.value(id);
      const Residency* place = last < 0 ? nullptr : places_.of_value(id, last);
      const Streamed* streamed = find_streamed(plan_, id);
      if (place == nullptr && streamed == nullptr) {
        violations_.add("{} '{}' is not resident at the end", what, value.name);
        return;
      }
      const Memory& memory = place != nullptr ? device_ : host_;
      const std::int64_t begin = place != nullptr ? place->offset : streamed->host;
      const Content expected{id, version_[index(id)], begin};
      if (const auto fault = memory.shadow.holds(begin, value.bytes(), expected))
        violations_.add("{} '{}' is not intact at the end: {}", what, value.name,
                        found_text(memory, expected, *fault));
    };
    for (net::ValueId id = 0; index(id) < graph_.values().size(); ++id)
      if (graph_.value(id).persistent() && last >= 0) check(id, "persistent");
    for (const net::ValueId id : plan_.kept) check(id, "kept");
  }

  void report(std::int32_t at, const Memory& memory, const Content& content,
              const std::optional<ShadowMemory::Fault>& fault) {
    if (!fault) return;
    using FaultKind = ShadowMemory::Fault::Kind;
    const std::string who = describe(graph_, plan_, at);
    const std::string what = content.value == net::none ? "scratch space" : name(content.value);
    const std::string other = fault->other == net::none ? "" : describe(graph_, plan_, fault->other);
    switch (fault->kind) {
      case FaultKind::other_content:
        violations_.add("{} reads {}, but {}", who, what, found_text(memory, content, *fault));
        return;
      case FaultKind::read_before_write_done:
        violations_.add("{} reads {} without waiting until {} has written it to {}", who, what, other,
                        range_text(memory, *fault));
        return;
      case FaultKind::write_before_read_done:
        violations_.add("{} writes {} over {} in {} without waiting until {} has read it", who, what,
                        found_name(*fault), range_text(memory, *fault), other);
        return;
      case FaultKind::write_before_write_done:
        violations_.add("{} writes {} over {} in {} without waiting until {} has written it", who, what,
                        found_name(*fault), range_text(memory, *fault), other);
        return;
    }
  }

  std::string name(net::ValueId id) const { return format("'{}'", graph_.value(id).name); }
  std::string range_text(const Memory& memory, const ShadowMemory::Fault& fault) const {
    return format("bytes {} to {} of {}", fault.begin, fault.end, memory.name);
  }
  std::string found_name(const ShadowMemory::Fault& fault) const {
    return fault.found.value == net::none ? "nothing valid" : name(fault.found.value);
  }
  // "bytes 0 to 64 of the arena hold …"
  std::string found_text(const Memory& memory, const Content& expected,
                         const ShadowMemory::Fault& fault) const {
    std::string text = range_text(memory, fault) + " hold " + found_name(fault);
    if (fault.found.value != net::none && fault.found.value == expected.value) {
      if (fault.found.version != expected.version)
        text += format(" after {} updates instead of {}", fault.found.version, expected.version);
      else
        text += format(" from its byte {} on", fault.begin - fault.found.origin);
    }
    if (fault.other != net::none) text += format(", written by {}", describe(graph_, plan_, fault.other));
    return text;
  }

  const net::Graph& graph_;
  const std::vector<std::int64_t>& workspaces_;
  const Plan& plan_;
  Violations& violations_;
  const Places places_;
  const StreamOrder order_;
  Memory device_, host_, disk_;
  std::vector<std::vector<int>> expected_;  // per node: versions of its inputs, then updates
  std::vector<int> version_;                // current
};

}  // namespace

void check_memory(const net::Graph& graph, const std::vector<std::int64_t>& workspaces, const Plan& plan,
                  Violations& violations) {
  Walk(graph, workspaces, plan, violations).run();
}

}  // namespace voxswap::swap
