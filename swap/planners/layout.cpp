#include "swap/planners/layout.h"

#include <algorithm>
#include <map>

#include "base/shape.h"
#include "swap/model/simulator.h"
#include "swap/plan/arena.h"
#include "swap/plan/plan.h"
#include "swap/planners/waits.h"

namespace voxswap::swap {
namespace {

using Kind = Instruction::Kind;

constexpr std::int64_t usual_chunk = std::int64_t{16} << 20;
constexpr std::int64_t most_chunks = 64;          // per value
constexpr std::int64_t most_small_chunks = 1024;  // per value swapped to disk through a small host pool
constexpr std::int64_t ring_out = 4;              // chunks of the host pool that stage writes to disk

std::int64_t round_up(std::int64_t bytes, std::int64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

// A swap-out or swap-in of one live range, in chunks.
struct Transfer {
  std::int32_t eviction = net::none;
  std::int64_t chunk = 0;  // bytes of every chunk but the last
  std::int64_t count = 0;  // chunks
};

class Layout {
 public:
  Layout(const GraphFacts& facts, const Schedule& schedule, const std::string& planner,
         const LayoutOptions& options)
      : facts_(facts), schedule_(schedule), options_(options), live_ranges_(schedule.sequence.live_ranges) {
    plan_.planner = planner;
    plan_.budget_bytes = facts.problem->budgets.device;
    plan_.host_budget_bytes = facts.problem->budgets.host;
    plan_.disk_budget_bytes = facts.problem->budgets.disk;
    for (const net::ValueId value : facts.problem->kept)
      if (value != net::none) plan_.kept.push_back(value);
  }

  Plan run() {
    choose_chunks();
    list_instructions();
    place_on_device();
    place_outside();
    add_waits(*facts_.problem->graph, facts_.problem->workspaces, plan_);
    sum_up();
    if (facts_.problem->costs != nullptr)
      plan_.predicted_seconds = simulate(plan_, *facts_.problem->costs).seconds;
    return std::move(plan_);
  }

 private:
  const Eviction& eviction(std::int32_t i) const { return schedule_.evictions[index(i)]; }
  net::ValueId value_of(std::int32_t live_range) const { return live_ranges_[index(live_range)].value; }
  std::int64_t true_bytes(std::int32_t live_range) const {
    return facts_.problem->graph->value(value_of(live_range)).bytes();
  }
  bool is_swapped_in(const Eviction& eviction) const {
    return index(eviction.next_use) < schedule_.sequence.steps.size();
  }
  bool streamed(std::int32_t live_range) const { return facts_.values[index(value_of(live_range))].streamed; }
  std::int32_t now() const { return static_cast<std::int32_t>(plan_.instructions.size()); }

  // Small host pools get small chunks, so that several copies to disk overlap.
  void choose_chunks() {
    chunk_ = usual_chunk;
    std::int64_t largest = 0;
    for (std::size_t i = 0; i < schedule_.evictions.size(); ++i)
      if (const std::int32_t live_range = schedule_.evictions[i].live_range;
          schedule_.on_disk[index(live_range)]) {
        uses_disk_ = true;
        largest = std::max(largest, true_bytes(live_range));
        slot_ = std::max(slot_, std::min(true_bytes(live_range), chunk_bytes(live_range)));
      }
    if (!uses_disk_) return;
    const std::int64_t share = staging_bytes(plan_.host_budget_bytes);
    if (slot_ * 2 * ring_out > share) {
      limit_ = round_up(std::max(share / (2 * ring_out) - disk_block + 1, largest / most_small_chunks),
                        disk_block);
      limit_ = std::max(limit_, disk_block);
      slot_ = limit_;
    }
    slot_ = round_up(slot_, disk_block);
    ring_in_ = std::clamp<std::int64_t>(share / slot_ - ring_out, 2, 32);
  }
  std::int64_t chunk_bytes(std::int32_t live_range) const {
    const std::int64_t bytes = round_up(std::max(chunk_, true_bytes(live_range) / most_chunks), disk_block);
    return schedule_.on_disk[index(live_range)] ? std::min(bytes, limit_) : bytes;
  }
  Transfer transfer(std::int32_t i) const {
    const std::int32_t live_range = eviction(i).live_range;
    const std::int64_t chunk = chunk_bytes(live_range);
    return {i, chunk, (true_bytes(live_range) + chunk - 1) / chunk};
  }

  // --- The list of instructions

  void list_instructions() {
    const auto steps = static_cast<std::int32_t>(schedule_.sequence.steps.size());
    sort_copies();
    first_.assign(schedule_.evictions.size(), net::none);
    out_end_.assign(schedule_.evictions.size(), net::none);
    run_at_.assign(index(steps), net::none);
    std::size_t out = 0, in = 0;
    const auto list_outs_after = [&](std::int32_t step) {
      for (; out < outs_.size() && eviction(outs_[out]).copied_out_after == step; ++out) list_out(outs_[out]);
    };
    list_outs_after(-1);
    for (std::int32_t t = 0; t < steps; ++t) {
      for (; in < ins_.size() && eviction(ins_[in]).resident_from == t; ++in) list_in(ins_[in]);
      run_at_[index(t)] = now();
      const SequenceStep& step = schedule_.sequence.steps[index(t)];
      Instruction& run = append(Kind::run, net::none);
      run.node = step.node;
      run.recomputed = step.recomputed;
      run.exchanges = facts_.nodes[index(step.node)].exchanges;
      if (waited_out_ != net::none) run.waits.push_back(waited_out_);
      waited_out_ = net::none;
      list_outs_after(t);
    }
  }

  void sort_copies() {
    for (std::size_t i = 0; i < schedule_.evictions.size(); ++i) {
      if (schedule_.evictions[i].first) outs_.push_back(static_cast<std::int32_t>(i));
      if (is_swapped_in(schedule_.evictions[i])) ins_.push_back(static_cast<std::int32_t>(i));
    }
    std::stable_sort(outs_.begin(), outs_.end(), [&](std::int32_t x, std::int32_t y) {
      return eviction(x).copied_out_after != eviction(y).copied_out_after
                 ? eviction(x).copied_out_after < eviction(y).copied_out_after
                 : eviction(x).last_use < eviction(y).last_use;
    });
    std::stable_sort(ins_.begin(), ins_.end(), [&](std::int32_t x, std::int32_t y) {
      return eviction(x).resident_from != eviction(y).resident_from
                 ? eviction(x).resident_from < eviction(y).resident_from
                 : eviction(x).next_use < eviction(y).next_use;
    });
    for (const std::int32_t i : ins_)
      if (schedule_.on_disk[index(eviction(i).live_range)])
        for (std::int64_t chunk = 0; chunk < transfer(i).count; ++chunk) to_read_.emplace_back(i, chunk);
  }

  Instruction& append(Kind kind, net::ValueId value) {
    plan_.instructions.emplace_back();
    plan_.instructions.back().kind = kind;
    plan_.instructions.back().value = value;
    return plan_.instructions.back();
  }
  // Host and disk offsets are relative at first: to the staging ring, or to the place of the live range.
  Instruction& append_chunk(Kind kind, const Transfer& transfer, std::int64_t chunk) {
    const std::int32_t live_range = eviction(transfer.eviction).live_range;
    Instruction& instruction = append(kind, value_of(live_range));
    instruction.begin = chunk * transfer.chunk;
    instruction.bytes = std::min(transfer.chunk, true_bytes(live_range) - instruction.begin);
    moves_.push_back({now() - 1, live_range});
    return instruction;
  }

  void list_out(std::int32_t i) {
    const Transfer transfer = this->transfer(i);
    const bool disk = schedule_.on_disk[index(eviction(i).live_range)];
    for (std::int64_t chunk = 0; chunk < transfer.count; ++chunk) {
      const std::int64_t slot = disk ? (next_out_++ % ring_out) * slot_ : 0;
      append_chunk(Kind::copy_out, transfer, chunk).host = slot;
      if (disk) append_chunk(Kind::write_disk, transfer, chunk).host = slot;
    }
    written_.resize(live_ranges_.size(), false);
    written_[index(eviction(i).live_range)] = true;
    out_end_[index(i)] = now() - 1;
    if (options_.wait_for_out) waited_out_ = now() - (disk ? 2 : 1);
  }

  void list_in(std::int32_t i) {
    const Transfer transfer = this->transfer(i);
    const bool disk = schedule_.on_disk[index(eviction(i).live_range)];
    first_[index(i)] = net::none;
    for (std::int64_t chunk = 0; chunk < transfer.count; ++chunk) {
      if (disk) read_ahead(copied_in_ + 1);
      const std::int64_t slot = disk ? ring_out * slot_ + (copied_in_ % ring_in_) * slot_ : 0;
      Instruction& copy = append_chunk(Kind::copy_in, transfer, chunk);
      copy.host = slot;
      if (options_.triggered && eviction(i).resident_from > 0)
        copy.waits.push_back(run_at_[index(eviction(i).resident_from - 1)]);
      if (first_[index(i)] == net::none) first_[index(i)] = now() - 1;
      if (disk) read_ahead(++copied_in_ + ring_in_);
    }
  }
  // Lists the next reads from disk up to chunk number `until`, stopping at values not yet written.
  void read_ahead(std::int64_t until) {
    written_.resize(live_ranges_.size(), false);
    for (; next_read_ < until && next_read_ < static_cast<std::int64_t>(to_read_.size()); ++next_read_) {
      const auto [i, chunk] = to_read_[static_cast<std::size_t>(next_read_)];
      if (!written_[index(eviction(i).live_range)]) return;
      append_chunk(Kind::read_disk, transfer(i), chunk).host =
          ring_out * slot_ + (next_read_ % ring_in_) * slot_;
    }
  }

  // --- Offsets

  void place_on_device() {
    for (net::ValueId id = 0; index(id) < facts_.values.size(); ++id) {
      const ValueFacts& value = facts_.values[index(id)];
      if (!value.persistent) continue;
      plan_.residencies.push_back({id, net::none, plan_.persistent_bytes, value.bytes, 0, now() - 1});
      plan_.persistent_bytes += value.bytes;
    }
    std::vector<Interval> intervals;
    std::vector<std::size_t> interval_of;                          // per residency from `persistent` on
    std::vector<std::int32_t> last_interval(live_ranges_.size());  // per live range
    std::vector<std::int32_t> inherited(live_ranges_.size(),
                                        net::none);  // interval that a live range continues in place
    const std::size_t persistent = plan_.residencies.size();
    plan_.live_bytes.assign(plan_.instructions.size(), plan_.persistent_bytes);
    std::size_t next = 0;
    for (std::int32_t id = 0; index(id) < live_ranges_.size(); ++id) {
      const LiveRange& live_range = live_ranges_[index(id)];
      const std::int64_t bytes = facts_.values[index(live_range.value)].bytes;
      std::int32_t from = live_range.produced < 0 ? 0 : run_at_[index(live_range.produced)];
      if (live_range.in_place_of != net::none)
        inherited[index(id)] = last_interval[index(live_range.in_place_of)];
      bool joins = inherited[index(id)] != net::none;
      const auto add = [&](std::int32_t to) {
        plan_.residencies.push_back({live_range.value, net::none, 0, bytes, from, to});
        for (std::int32_t i = from; i <= to; ++i) plan_.live_bytes[index(i)] += bytes;
        if (joins) {
          last_interval[index(id)] = inherited[index(id)];
          Interval& joined = intervals[index(last_interval[index(id)])];
          joined.last = std::max(joined.last, to);
          plan_.live_bytes[index(from)] -= bytes;
        } else {
          last_interval[index(id)] = static_cast<std::int32_t>(intervals.size());
          intervals.push_back({bytes, from, to, 0});
        }
        joins = false;
        interval_of.push_back(index(last_interval[index(id)]));
      };
      bool resident = true;  // since `from`
      for (; next < schedule_.evictions.size() && schedule_.evictions[next].live_range == id; ++next) {
        const Eviction& eviction = schedule_.evictions[next];
        const std::int32_t last_step = std::max(eviction.last_use, eviction.resident_until);
        std::int32_t to = last_step < 0 ? 0 : run_at_[index(last_step)];
        if (eviction.first) to = std::max(to, last_copy_out(next));
        if (last_step >= 0) add(to);  // inputs may start in host memory
        if (eviction.in_place_successor != net::none)
          inherited[index(eviction.in_place_successor)] = last_interval[index(id)];
        from = first_[next];
        resident = is_swapped_in(eviction);
      }
      const bool kept = facts_.values[index(live_range.value)].kept;
      if (resident) add(kept ? now() - 1 : live_range.last_use < 0 ? 0 : run_at_[index(live_range.last_use)]);
    }
    add_workspaces(intervals, interval_of);
    const std::int64_t enough =
        plan_.budget_bytes == unlimited ? 0 : plan_.budget_bytes - plan_.persistent_bytes;
    plan_.peak_bytes = plan_.persistent_bytes + pack(intervals, enough, options_.packing_effort);
    for (std::size_t i = persistent; i < plan_.residencies.size(); ++i)
      plan_.residencies[i].offset = plan_.persistent_bytes + intervals[interval_of[i - persistent]].offset;
  }

  // The last copy from the device of a swap-out.
  std::int32_t last_copy_out(std::size_t eviction) const {
    std::int32_t i = out_end_[eviction];
    while (plan_.instructions[index(i)].kind != Kind::copy_out) --i;
    return i;
  }

  void add_workspaces(std::vector<Interval>& intervals, std::vector<std::size_t>& interval_of) {
    for (const std::int32_t at : run_at_) {
      const net::NodeId node = plan_.instructions[index(at)].node;
      const std::int64_t bytes = facts_.nodes[index(node)].workspace;
      if (bytes == 0) continue;
      plan_.residencies.push_back({net::none, node, 0, bytes, at, at});
      plan_.live_bytes[index(at)] += bytes;
      interval_of.push_back(intervals.size());
      intervals.push_back({bytes, at, at, 0});
    }
  }

  // Host pool and disk: one place per evicted live range, from its first copy to its last.
  void place_outside() {
    struct Place {
      std::size_t interval;
      bool disk;
    };
    std::map<std::int32_t, Place> places;  // by live range
    std::vector<Interval> host, disk;
    for (const Move& move : moves_) {
      if (streamed(move.live_range)) continue;
      const bool on_disk = schedule_.on_disk[index(move.live_range)];
      std::vector<Interval>& list = on_disk ? disk : host;
      const auto [place, added] = places.try_emplace(move.live_range, Place{list.size(), on_disk});
      if (added)
        list.push_back({round_up(true_bytes(move.live_range), on_disk ? disk_block : place_alignment),
                        move.at, move.at, 0});
      list[place->second.interval].last = move.at;
    }
    std::int64_t ring = uses_disk_ ? (ring_out + ring_in_) * slot_ : 0;
    plan_.host_bytes = ring + pack(host);
    plan_.disk_bytes = pack(disk);
    place_streamed();
    for (const Move& move : moves_) {
      if (streamed(move.live_range)) continue;
      Instruction& instruction = plan_.instructions[index(move.at)];
      const Place& place = places.at(move.live_range);
      if (!place.disk) {
        instruction.host = ring + host[place.interval].offset + instruction.begin;
      } else if (instruction.kind == Kind::write_disk || instruction.kind == Kind::read_disk) {
        instruction.disk = disk[place.interval].offset + instruction.begin;
      }
    }
  }

  // Streamed values follow the host pool, by id.
  void place_streamed() {
    std::map<net::ValueId, std::int64_t> places;
    for (const Move& move : moves_)
      if (streamed(move.live_range)) places.emplace(value_of(move.live_range), 0);
    for (auto& [value, place] : places) {
      place = plan_.host_bytes + plan_.streamed_bytes;
      plan_.streamed.push_back({value, place});
      plan_.streamed_bytes += facts_.values[index(value)].bytes;
    }
    for (const Move& move : moves_)
      if (streamed(move.live_range)) {
        Instruction& instruction = plan_.instructions[index(move.at)];
        instruction.host = places.at(value_of(move.live_range)) + instruction.begin;
      }
  }

  void sum_up() {
    if (!plan_.live_bytes.empty())
      plan_.live_peak_bytes = *std::max_element(plan_.live_bytes.begin(), plan_.live_bytes.end());
  }

  struct Move {
    std::int32_t at, live_range;
  };

  const GraphFacts& facts_;
  const Schedule& schedule_;
  const LayoutOptions& options_;
  const std::vector<LiveRange>& live_ranges_;
  Plan plan_;
  std::int64_t chunk_ = 0, limit_ = std::int64_t{1} << 62, slot_ = 0, ring_in_ = 0;
  bool uses_disk_ = false;
  std::vector<std::int32_t> outs_, ins_;  // evictions by copied_out_after, by resident_from
  std::vector<std::pair<std::int32_t, std::int64_t>>
      to_read_;  // (eviction, chunk): all reads from disk, in order
  std::int64_t next_out_ = 0, next_read_ = 0, copied_in_ = 0;  // chunks staged so far
  std::vector<bool> written_;                                  // per live range: its swap-out is listed
  std::vector<std::int32_t> run_at_, first_,
      out_end_;  // instructions: of a step; of an eviction's first copy in and last copy out
  std::int32_t waited_out_ = net::none;
  std::vector<Move> moves_;
};

}  // namespace

Plan lay_out(const GraphFacts& facts, const Schedule& schedule, const std::string& planner,
             const LayoutOptions& options) {
  return Layout(facts, schedule, planner, options).run();
}

}  // namespace voxswap::swap
