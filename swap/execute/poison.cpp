#include "swap/execute/poison.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>

#include "base/shape.h"
#include "swap/plan/places.h"
#include "swap/plan/stream_order.h"

namespace voxswap::swap {
namespace {

// The parts of [0, size) outside all of `taken`.
std::vector<ByteRange> gaps(std::vector<ByteRange> taken, std::int64_t size) {
  std::sort(taken.begin(), taken.end(),
            [](const ByteRange& a, const ByteRange& b) { return a.offset < b.offset; });
  std::vector<ByteRange> result;
  std::int64_t top = 0;
  for (const ByteRange& range : taken) {
    if (const std::int64_t end = std::min(range.offset, size); end > top) result.push_back({top, end - top});
    top = std::max(top, range.offset + range.bytes);
  }
  if (top < size) result.push_back({top, size - top});
  return result;
}

struct Use {  // of bytes [begin, end) of a residency
  std::int32_t instruction = 0;
  std::int64_t begin = 0, end = 0;
};

class Planner {
 public:
  Planner(const net::Graph& graph, const std::vector<std::int64_t>& workspaces, const Plan& plan, bool serial)
      : graph_(graph),
        workspaces_(workspaces),
        plan_(plan),
        places_(graph, plan),
        order_(plan),
        serial_(serial) {}

  PoisonPlan run() {
    result_.after.resize(plan_.instructions.size());
    result_.before = gaps(there_beforehand(), plan_.peak_bytes);
    collect_uses();
    for (const Residency& r : plan_.residencies)
      if (!outlives_step(r)) poison_place(r);
    return std::move(result_);
  }

 private:
  std::vector<ByteRange> there_beforehand() const {
    std::vector<ByteRange> ranges;
    for (net::ValueId id = 0; index(id) < graph_.values().size(); ++id)
      if (graph_.value(id).producer == net::none && places_.of_value(id, 0) != nullptr)
        ranges.push_back({places_.all(id).front()->offset, places_.all(id).front()->bytes});
    return ranges;
  }

  bool outlives_step(const Residency& r) const {
    if (r.value == net::none || index(r.last) + 1 != plan_.instructions.size()) return false;
    return graph_.value(r.value).persistent() ||
           std::find(plan_.kept.begin(), plan_.kept.end(), r.value) != plan_.kept.end();
  }

  void collect_uses() {
    for (std::int32_t i = 0; index(i) < plan_.instructions.size(); ++i) {
      const Instruction& instruction = plan_.instructions[index(i)];
      if (instruction.kind == Instruction::Kind::run) {
        const net::Node& node = graph_.node(instruction.node);
        for (const auto* list : {&node.inputs, &node.outputs, &node.updates})
          for (const net::ValueId value : *list)
            use(places_.of_value(value, i), {i, 0, graph_.value(value).bytes()});
        use(places_.of_workspace(instruction.node, i), {i, 0, workspaces_[index(instruction.node)]});
      } else if (instruction.lane() == Lane::to_host || instruction.lane() == Lane::to_device) {
        use(places_.of_value(instruction.value, i),
            {i, instruction.begin, instruction.begin + instruction.bytes});
      }
    }
  }
  void use(const Residency* place, const Use& use) {
    if (place != nullptr) uses_[place].push_back(use);
  }

  // Handles each range between the bounds of uses separately, because values are copied in chunks.
  void poison_place(const Residency& r) {
    const std::vector<Use>& uses = uses_[&r];
    std::vector<std::int64_t> bounds;
    for (const Use& use : uses) bounds.insert(bounds.end(), {use.begin, use.end});
    std::sort(bounds.begin(), bounds.end());
    bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
    const std::vector<ByteRange> successors = written_over(r);
    for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
      const std::int32_t last = safe_last_use(uses, bounds[i], bounds[i + 1]);
      if (last == net::none) continue;
      std::vector<ByteRange> kept_from;
      for (const ByteRange& successor : successors)
        kept_from.push_back({successor.offset - r.offset - bounds[i], successor.bytes});
      for (const ByteRange& dead : gaps(kept_from, bounds[i + 1] - bounds[i]))
        result_.after[index(last)].push_back({r.offset + bounds[i] + dead.offset, dead.bytes});
    }
  }

  // The use that is ordered after all others; none if there is no such use.
  std::int32_t safe_last_use(const std::vector<Use>& uses, std::int64_t begin, std::int64_t end) const {
    const auto covers = [&](const Use& use) { return use.begin <= begin && use.end >= end; };
    std::int32_t last = net::none;
    for (const Use& use : uses)
      if (covers(use)) last = std::max(last, use.instruction);
    for (const Use& use : uses)
      if (covers(use) && use.instruction != last && !before(use.instruction, last)) return net::none;
    return last;
  }
  bool before(std::int32_t earlier, std::int32_t later) const {
    return serial_ ? earlier < later : order_.before(earlier, later);
  }

  // The output that the last instruction of `r` writes in place.
  std::vector<ByteRange> written_over(const Residency& r) const {
    std::vector<ByteRange> successors;
    const Instruction& instruction = plan_.instructions[index(r.last)];
    if (instruction.kind != Instruction::Kind::run) return successors;
    for (const net::ValueId output : graph_.node(instruction.node).outputs) {
      const Residency* successor = places_.of_value(output, r.last);
      if (successor != nullptr && successor != &r)
        successors.push_back({successor->offset, successor->bytes});
    }
    return successors;
  }

  const net::Graph& graph_;
  const std::vector<std::int64_t>& workspaces_;
  const Plan& plan_;
  Places places_;
  StreamOrder order_;
  bool serial_;
  std::map<const Residency*, std::vector<Use>> uses_;
  PoisonPlan result_;
};

}  // namespace

PoisonPlan plan_poison(const net::Graph& graph, const std::vector<std::int64_t>& workspaces, const Plan& plan,
                       bool serial) {
  return Planner(graph, workspaces, plan, serial).run();
}

bool poisoning_wanted() {
  if (const char* setting = std::getenv("VOXSWAP_POISON")) return std::string(setting) == "1";
#ifdef __OPTIMIZE__
  return false;
#else
  return true;
#endif
}

Poison::Poison(net::Backend& backend) : block_(backend.allocate(block_bytes)) {
  const std::vector<std::byte> bytes(static_cast<std::size_t>(block_bytes), std::byte{0xff});
  const std::unique_ptr<net::Stream> stream = backend.make_stream();
  stream->copy(block_->data(), bytes.data(), block_bytes);
  stream->synchronize();
}

void Poison::fill(net::Stream& stream, std::byte* memory, const std::vector<ByteRange>& ranges) const {
  for (const ByteRange& range : ranges)
    for (std::int64_t done = 0; done < range.bytes; done += block_bytes)
      stream.copy(memory + range.offset + done, block_->data(), std::min(block_bytes, range.bytes - done));
}

}  // namespace voxswap::swap
