// A fluid discrete-event simulation: every activity has a constant rate until the next event, the end of an
// activity.
//
// Devices that run the same plan from the same instant over equally shared links do the same at every
// instant, so one of them is simulated for all. There are at most two such groups: devices on full links, and
// those on a last link that fewer share.
#include "swap/model/simulator.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "base/shape.h"

namespace voxswap::swap {
namespace {

constexpr std::size_t compute = 0;  // Lane::compute

struct Activity {
  std::int32_t instruction = net::none;  // next on its lane; none: the lane is done
  std::size_t waits_over = 0;            // number of its waits known to be over
  bool running = false;
  double delay = 0;      // seconds of fixed cost still to come
  double remaining = 0;  // then: seconds of a kernel, or bytes
  double rate = 0;       // per second, until the next event
};

struct Group {
  int members = 1;      // devices in this group
  int on_one_link = 1;  // devices per link
  double finished = 0;  // when its last instruction was done
  double stalled = 0;
  double compute_free = 0;  // when the last kernel ended
  Activity lanes[lane_count];
  double busy[lane_count] = {};
  std::vector<double> begin, end;  // per instruction; end is infinite until it is done

  bool moving(std::size_t lane) const { return lanes[lane].running && lanes[lane].delay <= 0; }
};

class Simulator {
 public:
  Simulator(const Plan& plan, const CostModel& costs, const Sharing& sharing) : plan_(plan), costs_(costs) {
    const int per_link = std::max(1, std::min(sharing.devices, sharing.devices_per_link));
    const int rest = sharing.devices % per_link;
    link_lanes();
    add_group(std::max(1, sharing.devices) - rest, per_link);
    if (rest > 0) add_group(rest, rest);
  }

  Simulation run() {
    while (true) {
      for (Group& group : groups_)
        for (Activity& lane : group.lanes) start(group, lane);
      for (Group& group : groups_) set_rates(group);
      const double step = time_to_next_event();
      if (step == infinity) break;
      now_ += step;
      for (Group& group : groups_)
        for (std::size_t lane = 0; lane < lane_count; ++lane) advance(group, lane, step);
    }
    return result();
  }

 private:
  // next_[i]: the instruction after i on the same lane.
  void link_lanes() {
    const std::size_t count = plan_.instructions.size();
    next_.assign(count, net::none);
    std::fill(std::begin(first_), std::end(first_), net::none);
    for (std::size_t i = count; i-- > 0;) {
      std::int32_t& head = first_[static_cast<std::size_t>(plan_.instructions[i].lane())];
      next_[i] = head;
      head = static_cast<std::int32_t>(i);
    }
  }

  void add_group(int members, int on_one_link) {
    Group& group = groups_.emplace_back();
    group.members = members;
    group.on_one_link = on_one_link;
    group.begin.assign(plan_.instructions.size(), infinity);
    group.end.assign(plan_.instructions.size(), infinity);
    for (std::size_t lane = 0; lane < lane_count; ++lane) group.lanes[lane].instruction = first_[lane];
  }

  // Starts the next instruction of the lane if all of its waits are over.
  void start(Group& group, Activity& lane) {
    if (lane.running || lane.instruction == net::none) return;
    const Instruction& instruction = plan_.instructions[index(lane.instruction)];
    for (; lane.waits_over < instruction.waits.size(); ++lane.waits_over)
      if (group.end[index(instruction.waits[lane.waits_over])] == infinity) return;
    lane.running = true;
    lane.waits_over = 0;
    group.begin[index(lane.instruction)] = now_;
    switch (instruction.lane()) {
      case Lane::compute:
        lane.delay = 0;
        lane.remaining = costs_.node_seconds[index(instruction.node)];
        group.stalled += now_ - group.compute_free;
        break;
      case Lane::exchange:
        lane.delay = 0;
        lane.remaining = costs_.node_seconds[index(instruction.node)];
        break;
      case Lane::to_host:
      case Lane::to_device:
        lane.delay = costs_.copy_seconds;
        lane.remaining = static_cast<double>(instruction.bytes);
        break;
      case Lane::to_disk:
      case Lane::from_disk:
        lane.delay = costs_.disk_seconds;
        lane.remaining = static_cast<double>(instruction.bytes);
        break;
    }
  }

  void set_rates(Group& group) const {
    const bool busy = group.lanes[compute].running;
    double copied = 0;
    for (const auto& [lane, link] : {std::pair{Lane::to_host, &costs_.to_host},
                                     {Lane::to_device, &costs_.to_device},
                                     {Lane::to_disk, &costs_.to_disk},
                                     {Lane::from_disk, &costs_.from_disk}}) {
      Activity& activity = group.lanes[static_cast<std::size_t>(lane)];
      if (!group.moving(static_cast<std::size_t>(lane))) continue;
      const bool disk = lane == Lane::to_disk || lane == Lane::from_disk;
      const int sharers = disk ? devices_moving(lane) : group.on_one_link;
      activity.rate = (busy ? link->busy : link->alone) / sharers;
      if (!disk) copied += activity.rate;
    }
    group.lanes[static_cast<std::size_t>(Lane::exchange)].rate = 1;
    group.lanes[compute].rate = std::max(least_kernel_speed, 1 - costs_.interference * copied);
  }

  // All devices are on one host and share its disk.
  int devices_moving(Lane lane) const {
    int devices = 0;
    for (const Group& group : groups_)
      if (group.moving(static_cast<std::size_t>(lane))) devices += group.members;
    return devices;
  }

  static double time_to_end(const Activity& lane) {
    if (lane.delay > 0) return lane.delay;
    if (lane.remaining <= 0) return 0;
    return lane.rate > 0 ? lane.remaining / lane.rate : infinity;
  }

  double time_to_next_event() const {
    double least = infinity;
    for (const Group& group : groups_)
      for (const Activity& lane : group.lanes)
        if (lane.running) least = std::min(least, time_to_end(lane));
    return least;
  }

  void advance(Group& group, std::size_t number, double step) {
    Activity& lane = group.lanes[number];
    if (!lane.running) return;
    group.busy[number] += step;
    const bool over = time_to_end(lane) <= step;
    if (lane.delay > 0) {
      lane.delay = over ? 0 : lane.delay - step;
      return;
    }
    if (!over) {
      lane.remaining -= lane.rate * step;
      return;
    }
    group.end[index(lane.instruction)] = group.finished = now_;
    if (number == compute) group.compute_free = now_;
    lane.running = false;
    lane.instruction = next_[index(lane.instruction)];
  }

  // Result for the first device. An instruction that never ends (a link without a rate) makes the step
  // infinite.
  Simulation result() {
    Group& group = groups_.front();
    const auto& lanes = group.lanes;
    const auto done = [](const Activity& lane) { return lane.instruction == net::none; };
    const auto running = [](const Activity& lane) { return lane.running; };
    const bool all_done = std::all_of(std::begin(lanes), std::end(lanes), done);
    assert((all_done || std::any_of(std::begin(lanes), std::end(lanes), running)) && "waits form no cycle");
    Simulation simulation;
    simulation.seconds = all_done ? group.finished : infinity;
    simulation.compute_seconds = group.busy[compute];
    simulation.stall_seconds = group.stalled;
    std::copy(std::begin(group.busy), std::end(group.busy), std::begin(simulation.busy_seconds));
    simulation.begin = std::move(group.begin);
    simulation.end = std::move(group.end);
    return simulation;
  }

  const Plan& plan_;
  const CostModel& costs_;
  double now_ = 0;
  std::vector<std::int32_t> next_;
  std::int32_t first_[lane_count];
  std::vector<Group> groups_;
};

}  // namespace

Simulation simulate(const Plan& plan, const CostModel& costs, const Sharing& sharing) {
  return Simulator(plan, costs, sharing).run();
}

}  // namespace voxswap::swap
