// Ways to break a plan a little. Each changes one thing and keeps the rest consistent where it can (waits
// follow the instructions they mean, sums are made anew), so that what is wrong is what it is about.
#pragma once

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "swap/plan/plan.h"

namespace voxswap::test {

using Draw = std::function<std::size_t(std::size_t below)>;
struct Mutation {
  const char* name;
  void (*apply)(const net::Graph&, swap::Plan&, const Draw&);
};

namespace mutate {

using Kind = swap::Instruction::Kind;

inline std::size_t at(std::int64_t id) {
  return static_cast<std::size_t>(id);
}
inline swap::Residency& any_place(swap::Plan& plan, const Draw& draw) {
  return plan.residencies[draw(plan.residencies.size())];
}
inline swap::Instruction& any_instruction(swap::Plan& plan, const Draw& draw) {
  return plan.instructions[draw(plan.instructions.size())];
}
inline std::int32_t some(const Draw& draw, int most) {
  return static_cast<std::int32_t>(1 + draw(at(most)));
}
inline bool on_disk(const swap::Instruction& instruction) {
  return instruction.lane() == swap::Lane::to_disk || instruction.lane() == swap::Lane::from_disk;
}
// One that satisfies the condition; null when there is none.
template <class Condition>
swap::Instruction* find(swap::Plan& plan, const Draw& draw, Condition condition) {
  std::vector<swap::Instruction*> found;
  for (swap::Instruction& instruction : plan.instructions)
    if (condition(instruction)) found.push_back(&instruction);
  return found.empty() ? nullptr : found[draw(found.size())];
}
inline swap::Instruction* any_move(swap::Plan& plan, const Draw& draw) {
  return find(plan, draw, [](const swap::Instruction& i) { return i.kind != Kind::run; });
}

// The list in another order, possibly with some left out: position k holds what was at order[k]. Waits
// follow; those that would then point forward are dropped. Places keep the positions
// of the list, or follow their first and last instruction.
inline void reorder(swap::Plan& plan, const std::vector<std::size_t>& order, bool places_follow) {
  std::vector<std::int32_t> now(plan.instructions.size(), net::none);
  for (std::size_t k = order.size(); k-- > 0;) now[order[k]] = static_cast<std::int32_t>(k);
  std::vector<swap::Instruction> list;
  for (std::size_t k = 0; k < order.size(); ++k) {
    list.push_back(plan.instructions[order[k]]);
    std::vector<std::int32_t>& waits = list.back().waits;
    for (std::int32_t& wait : waits) wait = now[at(wait)];
    std::erase_if(waits, [&](std::int32_t wait) { return wait == net::none || at(wait) >= k; });
  }
  const auto last = static_cast<std::int32_t>(order.size()) - 1;
  for (swap::Residency& r : plan.residencies) {
    const bool to_end = at(r.last) + 1 == plan.instructions.size();
    if (places_follow) {
      r.first = std::max(now[at(r.first)], 0);
      r.last = std::max(now[at(r.last)], r.first);
    }
    r.first = std::min(r.first, last);
    r.last = to_end ? last : std::clamp(r.last, r.first, last);
  }
  plan.instructions = std::move(list);
}
inline std::vector<std::size_t> as_it_is(const swap::Plan& plan) {
  std::vector<std::size_t> order(plan.instructions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}
inline void move_instruction(swap::Plan& plan, std::size_t from, std::size_t to, bool places_follow) {
  std::vector<std::size_t> order = as_it_is(plan);
  order.erase(order.begin() + static_cast<std::ptrdiff_t>(from));
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(std::min(to, order.size())), from);
  reorder(plan, order, places_follow);
}

// Sums as they follow from the places: what changes hands within an instruction counts once.
inline void renew_sums(swap::Plan& plan) {
  plan.live_bytes.assign(plan.instructions.size(), 0);
  for (const swap::Residency& r : plan.residencies) {
    if (r.first < 0 || at(r.last) >= plan.live_bytes.size()) continue;
    for (std::int32_t i = r.first; i <= r.last; ++i) plan.live_bytes[at(i)] += r.bytes;
    for (const swap::Residency& before : plan.residencies)
      if (&before != &r && r.value != net::none && before.value != net::none && before.offset == r.offset &&
          before.last == r.first && before.first < before.last)
        plan.live_bytes[at(r.first)] -= std::min(r.bytes, before.bytes);
  }
  plan.live_peak_bytes =
      plan.live_bytes.empty() ? 0 : *std::max_element(plan.live_bytes.begin(), plan.live_bytes.end());
}

}  // namespace mutate

inline const std::vector<Mutation>& mutations() {
  using namespace mutate;
  static const std::vector<Mutation> list = {
      {"shift a place in the arena",
       [](const net::Graph&, swap::Plan& plan, const Draw& draw) {
         any_place(plan, draw).offset += 64 * (static_cast<std::int64_t>(draw(9)) - 4);
       }},
      {"give a place another's offset",
       [](const net::Graph&, swap::Plan& plan, const Draw& draw) {
         any_place(plan, draw).offset = any_place(plan, draw).offset;
       }},
      {"exchange the offsets of two places",
       [](const net::Graph&, swap::Plan& plan, const Draw& draw) {
         std::swap(any_place(plan, draw).offset, any_place(plan, draw).offset);
       }},
      {"exchange the offsets of two places of one value",
       [](const net::Graph&, swap::Plan& plan, const Draw& draw) {
         swap::Residency& r = any_place(plan, draw);
         for (swap::Residency& other : plan.residencies)
           if (&other != &r && other.value == r.value && r.value != net::none) {
             std::swap(r.offset, other.offset);
             return;
           }
       }},
      {"end a place earlier",
       [](const net::Graph&, swap::Plan& plan, const Draw& draw) {
         swap::Residency& r = any_place(plan, draw);
         r.last = std::max(r.first, r.last - some(draw, 3));
       }},
      {"end a place later",
       [](const net::Graph&, swap::Plan& plan, const Draw& draw) {
         swap::Residency& r = any_place(plan, draw);
         r.last = std::min(r.last + some(draw, 5), static_cast<std::int32_t>(plan.instructions.size()) - 1);
       }},
      {"begin a place later",
       [](const net::Graph&, swap::Plan& plan, const Draw& draw) {
         swap::Residency& r = any_place(plan, draw);
         r.first = std::min(r.last, r.first + some(draw, 3));
       }},
      {"begin a place earlier",
       [](const net::Graph&, swap::Plan& plan, const Draw& draw) {
         swap::Residency& r = any_place(plan, draw);
         r.first = std::max(0, r.first - some(draw, 5));
       }},
      {"drop a place",
       [](const net::Graph&, swap::Plan& plan, const Draw& draw) {
         plan.residencies.erase(plan.residencies.begin() +
                                static_cast<std::ptrdiff_t>(draw(plan.residencies.size())));
       }},
      {"shrink a place",
       [](const net::Graph&, swap::Plan& plan, const Draw& draw) { any_place(plan, draw).bytes -= 64; }},
      {"shrink a memory",
       [](const net::Graph&, swap::Plan& plan, const Draw& draw) {
         std::int64_t* sizes[] = {&plan.peak_bytes, &plan.host_bytes, &plan.disk_bytes};
         std::int64_t& size = *sizes[draw(3)];
         size = std::max<std::int64_t>(0, size - 64 * some(draw, 20));
       }},
      {"swap two instructions, waits as they stand",
       [](const net::Graph&, swap::Plan& plan, const Draw& draw) {
         std::swap(any_instruction(plan, draw), any_instruction(plan, draw));
       }},
      {"swap two neighbouring instructions",
       [](const net::Graph&, swap::Plan& plan, const Draw& draw) {
         const std::size_t from = draw(plan.instructions.size());
         move_instruction(plan, from, from + 1, draw(2) == 0);
       }},
      {"move an instruction",
       [](const net::Graph&, swap::Plan& plan, const Draw& draw) {
         const std::size_t from = draw(plan.instructions.size());
         move_instruction(plan, from, draw(plan.instructions.size()), draw(2) == 0);
       }},
      {"move an eviction before a reader",
       [](const net::Graph&, swap::Plan& plan, const Draw& draw) {
         const swap::Instruction* move =
             find(plan, draw, [](const swap::Instruction& i) { return i.lane() == swap::Lane::to_host; });
         if (move == nullptr) return;
         const auto from = at(move - plan.instructions.data());
         move_instruction(plan, from, from - std::min(from, at(some(draw, 12))), draw(2) == 0);
       }},
      {"move a return behind its reader",
       [](const net::Graph&, swap::Plan& plan, const Draw& draw) {
         const swap::Instruction* move =
             find(plan, draw, [](const swap::Instruction& i) { return i.lane() == swap::Lane::to_device; });
         if (move == nullptr) return;
         const auto from = at(move - plan.instructions.data());
         move_instruction(plan, from, from + at(some(draw, 12)), draw(2) == 0);
       }},
      {"drop an instruction",
       [](const net::Graph&, swap::Plan& plan, const Draw& draw) {
         std::vector<std::size_t> order = as_it_is(plan);
         order.erase(order.begin() + static_cast<std::ptrdiff_t>(draw(order.size())));
         reorder(plan, order, true);
       }},
      {"repeat an instruction",
       [](const net::Graph&, swap::Plan& plan, const Draw& draw) {
         std::vector<std::size_t> order = as_it_is(plan);
         const std::size_t which = draw(order.size());
         const net::NodeId node =
             plan.instructions[which].kind == Kind::run ? plan.instructions[which].node : net::none;
         order.insert(order.begin() + static_cast<std::ptrdiff_t>(std::min(which + draw(8), order.size())),
                      which);
         reorder(plan, order, true);
         bool ran = false;
         for (swap::Instruction& i : plan.instructions)
           if (i.kind == Kind::run && i.node == node) i.again = std::exchange(ran, true);
       }},
      {"drop a wait",
       [](const net::Graph&, swap::Plan& plan, const Draw& draw) {
         swap::Instruction* i =
             find(plan, draw, [](const swap::Instruction& other) { return !other.waits.empty(); });
         if (i != nullptr)
           i->waits.erase(i->waits.begin() + static_cast<std::ptrdiff_t>(draw(i->waits.size())));
       }},
      {"drop all waits of an instruction",
       [](const net::Graph&, swap::Plan& plan, const Draw& draw) {
         swap::Instruction* i =
             find(plan, draw, [](const swap::Instruction& other) { return !other.waits.empty(); });
         if (i != nullptr) i->waits.clear();
       }},
      {"wait for the one before instead",
       [](const net::Graph&, swap::Plan& plan, const Draw& draw) {
         swap::Instruction* i =
             find(plan, draw, [](const swap::Instruction& other) { return !other.waits.empty(); });
         if (i == nullptr) return;
         std::int32_t& wait = i->waits[draw(i->waits.size())];
         const swap::Lane lane = plan.instructions[at(wait)].lane();
         for (std::int32_t earlier = wait - 1; earlier >= 0; --earlier)
           if (plan.instructions[at(earlier)].lane() == lane) {
             wait = earlier;
             return;
           }
       }},
      {"wait for anything",
       [](const net::Graph&, swap::Plan& plan, const Draw& draw) {
         swap::Instruction* i =
             find(plan, draw, [](const swap::Instruction& other) { return !other.waits.empty(); });
         if (i != nullptr)
           i->waits[draw(i->waits.size())] = static_cast<std::int32_t>(draw(plan.instructions.size()));
       }},
      {"shift a place in the host pool",
       [](const net::Graph&, swap::Plan& plan, const Draw& draw) {
         if (swap::Instruction* i = any_move(plan, draw))
           i->host += (on_disk(*i) ? 4096 : 16) * (static_cast<std::int64_t>(draw(5)) - 2);
       }},
      {"use another's place in the host pool",
       [](const net::Graph&, swap::Plan& plan, const Draw& draw) {
         swap::Instruction *i = any_move(plan, draw), *other = any_move(plan, draw);
         if (i != nullptr) i->host = other->host;
       }},
      {"shift a place in the scratch file",
       [](const net::Graph&, swap::Plan& plan, const Draw& draw) {
         if (swap::Instruction* i = find(plan, draw, on_disk))
           i->disk += 4096 * (static_cast<std::int64_t>(draw(5)) - 2);
       }},
      {"use another's place in the scratch file",
       [](const net::Graph&, swap::Plan& plan, const Draw& draw) {
         swap::Instruction *i = find(plan, draw, on_disk), *other = find(plan, draw, on_disk);
         if (i != nullptr) i->disk = other->disk;
       }},
      {"move a value's place in the host pool",
       [](const net::Graph&, swap::Plan& plan, const Draw& draw) {
         const swap::Instruction *i = any_move(plan, draw), *other = any_move(plan, draw);
         if (i == nullptr) return;
         const net::ValueId value = i->value;
         const std::int64_t step =
             find(plan, draw, [&](const swap::Instruction& o) { return o.value == value && on_disk(o); }) !=
                     nullptr
                 ? 4096
                 : 16;
         const std::int64_t shift =
             other->host - other->begin - (i->host - i->begin) + step * static_cast<std::int64_t>(draw(20));
         for (swap::Instruction& o : plan.instructions)
           if (o.kind != Kind::run && o.value == value) o.host += shift;
       }},
      {"move a value's place in the scratch file",
       [](const net::Graph&, swap::Plan& plan, const Draw& draw) {
         const swap::Instruction* i = find(plan, draw, on_disk);
         if (i == nullptr) return;
         const net::ValueId value = i->value;
         const std::int64_t shift = 4096 * (static_cast<std::int64_t>(draw(7)) - 3);
         for (swap::Instruction& o : plan.instructions)
           if (on_disk(o) && o.value == value) o.disk += shift;
       }},
      {"move other bytes of the value",
       [](const net::Graph&, swap::Plan& plan, const Draw& draw) {
         if (swap::Instruction* i = any_move(plan, draw))
           (draw(2) == 0 ? i->begin : i->bytes) += (draw(2) == 0 ? 16 : -16);
       }},
      {"move another chunk of the value",
       [](const net::Graph&, swap::Plan& plan, const Draw& draw) {
         swap::Instruction* i = any_move(plan, draw);
         if (i == nullptr) return;
         swap::Instruction* other = find(plan, draw, [&](const swap::Instruction& o) {
           return o.kind == i->kind && o.value == i->value && o.begin != i->begin;
         });
         if (other == nullptr) return;
         i->begin = other->begin;
         i->bytes = other->bytes;
       }},
      {"move another value",
       [](const net::Graph&, swap::Plan& plan, const Draw& draw) {
         swap::Instruction *i = any_move(plan, draw), *other = any_move(plan, draw);
         if (i != nullptr) i->value = other->value;
       }},
      {"move in the other direction",
       [](const net::Graph&, swap::Plan& plan, const Draw& draw) {
         if (swap::Instruction* i = any_move(plan, draw))
           i->kind = i->kind == Kind::copy_out     ? Kind::copy_in
                     : i->kind == Kind::copy_in    ? Kind::copy_out
                     : i->kind == Kind::write_disk ? Kind::read_disk
                                                   : Kind::write_disk;
       }},
      {"forget that a value streams",
       [](const net::Graph&, swap::Plan& plan, const Draw& draw) {
         if (!plan.streamed.empty())
           plan.streamed.erase(plan.streamed.begin() +
                               static_cast<std::ptrdiff_t>(draw(plan.streamed.size())));
       }},
      {"stream another value",
       [](const net::Graph& graph, swap::Plan& plan, const Draw& draw) {
         if (!plan.streamed.empty())
           plan.streamed[draw(plan.streamed.size())].value =
               static_cast<net::ValueId>(draw(graph.values().size()));
       }},
      {"shift the place of a value that streams",
       [](const net::Graph&, swap::Plan& plan, const Draw& draw) {
         if (plan.streamed.empty()) return;
         swap::Streamed& streamed = plan.streamed[draw(plan.streamed.size())];
         const std::int64_t shift = 64 * (static_cast<std::int64_t>(draw(9)) - 4);
         streamed.host += shift;
         if (draw(2) == 0) return;
         for (swap::Instruction& i : plan.instructions)
           if (i.kind != Kind::run && i.value == streamed.value) i.host += shift;
       }},
      {"let two values stream from one place",
       [](const net::Graph&, swap::Plan& plan, const Draw& draw) {
         if (plan.streamed.empty()) return;
         swap::Streamed& streamed = plan.streamed[draw(plan.streamed.size())];
         const std::int64_t shift = plan.streamed[draw(plan.streamed.size())].host - streamed.host;
         streamed.host += shift;
         for (swap::Instruction& i : plan.instructions)
           if (i.kind != Kind::run && i.value == streamed.value) i.host += shift;
       }},
      {"run another node",
       [](const net::Graph& graph, swap::Plan& plan, const Draw& draw) {
         swap::Instruction* i =
             find(plan, draw, [](const swap::Instruction& other) { return other.kind == Kind::run; });
         i->node = static_cast<net::NodeId>(draw(graph.nodes().size()));
       }},
      {"keep another value",
       [](const net::Graph& graph, swap::Plan& plan, const Draw& draw) {
         if (!plan.kept.empty()) plan.kept[0] = static_cast<net::ValueId>(draw(graph.values().size()));
       }},
  };
  return list;
}

// Seeded: the same mutant for the same draws.
inline void apply(const Mutation& mutation, const net::Graph& graph, swap::Plan& plan, const Draw& draw) {
  mutation.apply(graph, plan, draw);
  mutate::renew_sums(plan);
}

}  // namespace voxswap::test
