// Mutations of plans. Each changes one property and keeps the rest consistent if possible (waits follow their
// instructions, sums are recomputed), so that only that property is wrong.
#pragma once

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "swap/plan/plan.h"

namespace voxswap::test {

using Draw = std::function<std::size_t(std::size_t below)>;

namespace mutate {

using swap::Instruction;
using swap::Lane;
using swap::Residency;
using swap::Streamed;
using Kind = Instruction::Kind;

inline std::size_t at(std::int64_t id) {
  return static_cast<std::size_t>(id);
}
inline bool on_disk(const Instruction& instruction) {
  return instruction.lane() == Lane::to_disk || instruction.lane() == Lane::from_disk;
}

// A plan to mutate, and random draws from it.
struct Mutant {
  const net::Graph& graph;
  swap::Plan& plan;
  const Draw& draw;

  std::int64_t number(std::size_t below) { return static_cast<std::int64_t>(draw(below)); }
  std::int32_t some(std::size_t most) { return static_cast<std::int32_t>(1 + draw(most)); }
  Residency& place() { return plan.residencies[draw(plan.residencies.size())]; }
  Instruction& instruction() { return plan.instructions[draw(plan.instructions.size())]; }
  // A random one that satisfies the condition; null if there is none.
  template <class Condition>
  Instruction* find(Condition condition) {
    std::vector<Instruction*> found;
    for (Instruction& one : plan.instructions)
      if (condition(one)) found.push_back(&one);
    return found.empty() ? nullptr : found[draw(found.size())];
  }
  Instruction* move() {
    return find([](const Instruction& i) { return i.kind != Kind::run; });
  }
  Instruction* waiting() {
    return find([](const Instruction& i) { return !i.waits.empty(); });
  }
};

// Reorders the list, possibly without some instructions: position k gets instruction order[k]. Waits follow;
// those that would then refer to later instructions are removed. Residencies keep their positions, or follow
// their first and last instruction.
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

// Recomputes the sums from the residencies. Memory overwritten in place counts once.
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

struct Mutation {
  const char* name;
  void (*apply)(mutate::Mutant&);
};

inline const std::vector<Mutation>& mutations() {
  using namespace mutate;
  static const std::vector<Mutation> list = {
      {"shift a place in the arena", [](Mutant& m) { m.place().offset += 64 * (m.number(9) - 4); }},
      {"give a place another's offset", [](Mutant& m) { m.place().offset = m.place().offset; }},
      {"exchange the offsets of two places",
       [](Mutant& m) { std::swap(m.place().offset, m.place().offset); }},
      {"exchange the offsets of two places of one value",
       [](Mutant& m) {
         Residency& r = m.place();
         for (Residency& other : m.plan.residencies)
           if (&other != &r && other.value == r.value && r.value != net::none) {
             std::swap(r.offset, other.offset);
             return;
           }
       }},
      {"end a place earlier",
       [](Mutant& m) {
         Residency& r = m.place();
         r.last = std::max(r.first, r.last - m.some(3));
       }},
      {"end a place later",
       [](Mutant& m) {
         Residency& r = m.place();
         r.last = std::min(r.last + m.some(5), static_cast<std::int32_t>(m.plan.instructions.size()) - 1);
       }},
      {"begin a place later",
       [](Mutant& m) {
         Residency& r = m.place();
         r.first = std::min(r.last, r.first + m.some(3));
       }},
      {"begin a place earlier",
       [](Mutant& m) {
         Residency& r = m.place();
         r.first = std::max(0, r.first - m.some(5));
       }},
      {"drop a place",
       [](Mutant& m) {
         m.plan.residencies.erase(m.plan.residencies.begin() +
                                  static_cast<std::ptrdiff_t>(m.draw(m.plan.residencies.size())));
       }},
      {"shrink a place", [](Mutant& m) { m.place().bytes -= 64; }},
      {"shrink a memory",
       [](Mutant& m) {
         std::int64_t* sizes[] = {&m.plan.peak_bytes, &m.plan.host_bytes, &m.plan.disk_bytes};
         std::int64_t& size = *sizes[m.draw(3)];
         size = std::max<std::int64_t>(0, size - 64 * m.some(20));
       }},
      {"swap two instructions, waits as they stand",
       [](Mutant& m) { std::swap(m.instruction(), m.instruction()); }},
      {"swap two neighbouring instructions",
       [](Mutant& m) {
         const std::size_t from = m.draw(m.plan.instructions.size());
         move_instruction(m.plan, from, from + 1, m.draw(2) == 0);
       }},
      {"move an instruction",
       [](Mutant& m) {
         const std::size_t from = m.draw(m.plan.instructions.size());
         move_instruction(m.plan, from, m.draw(m.plan.instructions.size()), m.draw(2) == 0);
       }},
      {"move an eviction before a reader",
       [](Mutant& m) {
         const Instruction* move = m.find([](const Instruction& i) { return i.lane() == Lane::to_host; });
         if (move == nullptr) return;
         const auto from = at(move - m.plan.instructions.data());
         move_instruction(m.plan, from, from - std::min(from, at(m.some(12))), m.draw(2) == 0);
       }},
      {"move a return behind its reader",
       [](Mutant& m) {
         const Instruction* move = m.find([](const Instruction& i) { return i.lane() == Lane::to_device; });
         if (move == nullptr) return;
         const auto from = at(move - m.plan.instructions.data());
         move_instruction(m.plan, from, from + at(m.some(12)), m.draw(2) == 0);
       }},
      {"drop an instruction",
       [](Mutant& m) {
         std::vector<std::size_t> order = as_it_is(m.plan);
         order.erase(order.begin() + static_cast<std::ptrdiff_t>(m.draw(order.size())));
         reorder(m.plan, order, true);
       }},
      {"repeat an instruction",
       [](Mutant& m) {
         std::vector<std::size_t> order = as_it_is(m.plan);
         const std::size_t which = m.draw(order.size());
         const net::NodeId node =
             m.plan.instructions[which].kind == Kind::run ? m.plan.instructions[which].node : net::none;
         order.insert(order.begin() + static_cast<std::ptrdiff_t>(std::min(which + m.draw(8), order.size())),
                      which);
         reorder(m.plan, order, true);
         bool ran = false;
         for (Instruction& i : m.plan.instructions)
           if (i.kind == Kind::run && i.node == node) i.recomputed = std::exchange(ran, true);
       }},
      {"drop a wait",
       [](Mutant& m) {
         Instruction* i = m.waiting();
         if (i != nullptr)
           i->waits.erase(i->waits.begin() + static_cast<std::ptrdiff_t>(m.draw(i->waits.size())));
       }},
      {"drop all waits of an instruction",
       [](Mutant& m) {
         Instruction* i = m.waiting();
         if (i != nullptr) i->waits.clear();
       }},
      {"wait for the one before instead",
       [](Mutant& m) {
         Instruction* i = m.waiting();
         if (i == nullptr) return;
         std::int32_t& wait = i->waits[m.draw(i->waits.size())];
         const Lane lane = m.plan.instructions[at(wait)].lane();
         for (std::int32_t earlier = wait - 1; earlier >= 0; --earlier)
           if (m.plan.instructions[at(earlier)].lane() == lane) {
             wait = earlier;
             return;
           }
       }},
      {"wait for anything",
       [](Mutant& m) {
         Instruction* i = m.waiting();
         if (i != nullptr)
           i->waits[m.draw(i->waits.size())] = static_cast<std::int32_t>(m.draw(m.plan.instructions.size()));
       }},
      {"shift a place in the host pool",
       [](Mutant& m) {
         if (Instruction* i = m.move()) i->host += (on_disk(*i) ? 4096 : 16) * (m.number(5) - 2);
       }},
      {"use another's place in the host pool",
       [](Mutant& m) {
         Instruction *i = m.move(), *other = m.move();
         if (i != nullptr) i->host = other->host;
       }},
      {"shift a place in the scratch file",
       [](Mutant& m) {
         if (Instruction* i = m.find(on_disk)) i->disk += 4096 * (m.number(5) - 2);
       }},
      {"use another's place in the scratch file",
       [](Mutant& m) {
         Instruction *i = m.find(on_disk), *other = m.find(on_disk);
         if (i != nullptr) i->disk = other->disk;
       }},
      {"move a value's place in the host pool",
       [](Mutant& m) {
         const Instruction *i = m.move(), *other = m.move();
         if (i == nullptr) return;
         const net::ValueId value = i->value;
         const std::int64_t step =
             m.find([&](const Instruction& o) { return o.value == value && on_disk(o); }) != nullptr ? 4096
                                                                                                     : 16;
         const std::int64_t shift = other->host - other->begin - (i->host - i->begin) + step * m.number(20);
         for (Instruction& o : m.plan.instructions)
           if (o.kind != Kind::run && o.value == value) o.host += shift;
       }},
      {"move a value's place in the scratch file",
       [](Mutant& m) {
         const Instruction* i = m.find(on_disk);
         if (i == nullptr) return;
         const net::ValueId value = i->value;
         const std::int64_t shift = 4096 * (m.number(7) - 3);
         for (Instruction& o : m.plan.instructions)
           if (on_disk(o) && o.value == value) o.disk += shift;
       }},
      {"move other bytes of the value",
       [](Mutant& m) {
         if (Instruction* i = m.move()) (m.draw(2) == 0 ? i->begin : i->bytes) += (m.draw(2) == 0 ? 16 : -16);
       }},
      {"move another chunk of the value",
       [](Mutant& m) {
         Instruction* i = m.move();
         if (i == nullptr) return;
         Instruction* other = m.find([&](const Instruction& o) {
           return o.kind == i->kind && o.value == i->value && o.begin != i->begin;
         });
         if (other == nullptr) return;
         i->begin = other->begin;
         i->bytes = other->bytes;
       }},
      {"move another value",
       [](Mutant& m) {
         Instruction *i = m.move(), *other = m.move();
         if (i != nullptr) i->value = other->value;
       }},
      {"move in the other direction",
       [](Mutant& m) {
         if (Instruction* i = m.move())
           i->kind = i->kind == Kind::copy_out     ? Kind::copy_in
                     : i->kind == Kind::copy_in    ? Kind::copy_out
                     : i->kind == Kind::write_disk ? Kind::read_disk
                                                   : Kind::write_disk;
       }},
      {"forget that a value streams",
       [](Mutant& m) {
         if (!m.plan.streamed.empty())
           m.plan.streamed.erase(m.plan.streamed.begin() +
                                 static_cast<std::ptrdiff_t>(m.draw(m.plan.streamed.size())));
       }},
      {"stream another value",
       [](Mutant& m) {
         if (!m.plan.streamed.empty())
           m.plan.streamed[m.draw(m.plan.streamed.size())].value =
               static_cast<net::ValueId>(m.draw(m.graph.values().size()));
       }},
      {"shift the place of a value that streams",
       [](Mutant& m) {
         if (m.plan.streamed.empty()) return;
         Streamed& streamed = m.plan.streamed[m.draw(m.plan.streamed.size())];
         const std::int64_t shift = 64 * (m.number(9) - 4);
         streamed.host += shift;
         if (m.draw(2) == 0) return;
         for (Instruction& i : m.plan.instructions)
           if (i.kind != Kind::run && i.value == streamed.value) i.host += shift;
       }},
      {"let two values stream from one place",
       [](Mutant& m) {
         if (m.plan.streamed.empty()) return;
         Streamed& streamed = m.plan.streamed[m.draw(m.plan.streamed.size())];
         const std::int64_t shift = m.plan.streamed[m.draw(m.plan.streamed.size())].host - streamed.host;
         streamed.host += shift;
         for (Instruction& i : m.plan.instructions)
           if (i.kind != Kind::run && i.value == streamed.value) i.host += shift;
       }},
      {"run another node",
       [](Mutant& m) {
         Instruction* i = m.find([](const Instruction& other) { return other.kind == Kind::run; });
         i->node = static_cast<net::NodeId>(m.draw(m.graph.nodes().size()));
       }},
      {"keep another value",
       [](Mutant& m) {
         if (!m.plan.kept.empty())
           m.plan.kept[0] = static_cast<net::ValueId>(m.draw(m.graph.values().size()));
       }},
  };
  return list;
}

// Deterministic: equal draws give equal mutants.
inline void apply(const Mutation& mutation, const net::Graph& graph, swap::Plan& plan, const Draw& draw) {
  mutate::Mutant mutant{graph, plan, draw};
  mutation.apply(mutant);
  mutate::renew_sums(plan);
}

}  // namespace voxswap::test
