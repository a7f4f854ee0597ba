// The constructor resolves everything: addresses, argument lists, disk accesses, events, and the ranges to
// poison. A step then only enqueues every instruction on the stream of its lane, in the plan's order: the
// waits for other lanes, the work, and, if others wait for it, an event without a time. For measurements, two
// timed events enclose the work. Otherwise a device that can record takes kernels in groups (step_command.h),
// each recorded in its second step, and only segments of groups and copies are timed. The host does not wait
// before everything is enqueued. A full queue delays the enqueuing, but not for ever, because waits only
// refer to earlier instructions.
//
// Lanes that the plan does not use have no stream. After a failure, its stream skips the rest of its work but
// still signals its events, so that all lanes drain; the results of such a step are invalid.
#include "swap/execute/executor.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/shape.h"
#include "base/text.h"
#include "net/backends/backend.h"
#include "swap/execute/poison.h"
#include "swap/execute/resolved_step.h"
#include "swap/execute/streamed_values.h"
#include "swap/execute/workspace_guards.h"
#include "swap/plan/places.h"
#include "swap/verify/verify.h"

namespace voxswap::swap {
namespace {

Plan verified(const CompiledGraph& compiled, Plan plan) {
  const std::vector<std::string> violations = verify(compiled.graph(), compiled.workspaces(), plan);
  if (!violations.empty())
    fail(Exit::failed, "the plan of planner {} has {} and was not run. The first: {}", plan.planner,
         counted(violations.size(), "error"), violations.front());
  return plan;
}

}  // namespace

struct Executor::State {
  State(CompiledGraph& compiled_graph, Plan the_plan, Tiers the_tiers, const ExecutorOptions& options)
      : compiled(compiled_graph),
        backend(compiled_graph.backend()),
        graph(compiled_graph.graph()),
        plan(verified(compiled_graph, std::move(the_plan))),
        tiers(std::move(the_tiers)),
        serial(options.serial),
        places(graph, plan),
        streamed(backend, graph, plan) {
    check_sizes(plan, tiers);
    make_streams(options);
    resolved = resolve(compiled, plan, {places, tiers, streamed, links, context, serial});
    build_groups();
    started = backend.make_event();
    go = make_order_event(backend);
    if (poisoning_wanted()) {
      poison.emplace(backend);
      guards.emplace(compiled, plan, resolved);
      poisoned = plan_poison(graph, compiled.workspaces(), plan, serial);
      poisoned_pool = {{0, plan.host_bytes}};
      poisoned_results = {{0, streamed.result_bytes()}};
    }
  }

  void make_streams(const ExecutorOptions& options) {
    std::array<bool, lane_count> used{};
    used[index(Lane::compute)] = true;
    for (const Instruction& instruction : plan.instructions) used[index(instruction.lane())] = true;
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
      if (!used[lane]) continue;
      const bool of_host = lane == index(Lane::to_disk) || lane == index(Lane::from_disk) ||
                           (lane == index(Lane::exchange) && compiled.exchanges_on_host());
      streams[lane] = of_host ? backend.make_host_stream() : backend.make_stream();
    }
    const auto slow_down = [&](Lane lane, double rate) {
      if (used[index(lane)] && rate > 0) links[index(lane)] = std::make_unique<SlowLink>(backend, rate);
    };
    slow_down(Lane::to_host, options.to_host_rate);
    slow_down(Lane::to_device, options.to_device_rate);
  }

  void build_groups() {
    recorder = dynamic_cast<net::Recorder*>(streams[index(Lane::compute)].get());
    if (recorder == nullptr || serial || !recording_wanted()) return;
    group_of.assign(resolved.commands.size(), nullptr);
    for (LaunchGroup& group : launch_groups(graph, plan)) groups.push_back({std::move(group)});
    for (RecordedGroup& group : groups) {
      group.one_by_one = !group.repeats || group.instructions.size() == 1;
      group_of[group.instructions.front()] = &group;
    }
  }

  // Where a kept or persistent value is after the step.
  std::byte* place_of_result(net::ValueId value) const {
    const bool kept = std::find(plan.kept.begin(), plan.kept.end(), value) != plan.kept.end();
    if (!kept && !graph.value(value).persistent())
      fail(Exit::failed,
           "'{}' is not available after the step: it is neither persistent nor kept by the plan",
           graph.value(value).name);
    const auto last = static_cast<std::int32_t>(plan.instructions.size()) - 1;
    const Residency* place = places.of_value(value, last);
    return place != nullptr ? tiers.arena->data() + place->offset : streamed.result(value);
  }

  // REQUIRES: no step runs.
  void put(net::ValueId value, const void* bytes, std::int64_t size, bool stays) {
    check_usable();
    const net::Value& target = graph.value(value);
    if (size != target.bytes())
      fail(Exit::failed, "'{}' holds {}, but {} were given", target.name, counted(target.bytes(), "byte"),
           size);
    if (target.producer != net::none)
      fail(Exit::failed, "'{}' is computed by the step and cannot be written from outside", target.name);
    net::Stream& stream = *streams[index(Lane::compute)];
    if (const Residency* place = places.of_value(value, 0))  // null: streamed, or never read
      stream.copy(tiers.arena->data() + place->offset, bytes, size);
    if (streamed.is_input(value)) {
      if (!stays) stream.copy(streamed.own_memory(value), bytes, size);
      streamed.lend(value, stays ? bytes : streamed.own_memory(value));
    }
    stream.synchronize();
  }

  void enqueue(bool in_groups) {
    net::Stream& compute = *streams[index(Lane::compute)];
    if (poison) {
      poison->fill(compute, tiers.arena->data(), poisoned.before);
      if (tiers.host) poison->fill(compute, tiers.host->data(), poisoned_pool);
      poison->fill(compute, streamed.results(), poisoned_results);
    }
    compute.record(*started);
    compute.record(*go);
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
      if (streams[lane] && lane != index(Lane::compute)) streams[lane]->wait(*go);
      if (links[lane]) links[lane]->control().wait(*go);
    }
    for (std::size_t i = 0; i < resolved.commands.size(); ++i) {
      if (!in_groups || resolved.commands[i].lane != Lane::compute)
        enqueue(i);
      else if (group_of[i] != nullptr)
        enqueue(*group_of[i]);
    }
  }

  // Enqueues a group at the position of its first kernel. Instructions between its first and last kernel in
  // the plan's order are independent of it.
  void enqueue(RecordedGroup& group) {
    net::Stream& compute = *streams[index(Lane::compute)];
    const StepCommand &first = resolved.commands[group.instructions.front()],
                      &last = resolved.commands[group.instructions.back()];
    for (net::Event* event : first.waits) compute.wait(*event);
    if (group.begins_segment) compute.record(*first.begun);
    if (group.enqueued_before && !group.recording && !group.one_by_one) record(group);
    if (group.recording)
      recorder->replay(*group.recording);
    else
      launch_each(group);
    group.enqueued_before = true;
    if (group.ends_segment) compute.record(*last.done);
    if (last.ready) compute.record(*last.ready);  // last: the end is recorded before others continue
  }

  void launch_each(const RecordedGroup& group) {
    net::Stream& compute = *streams[index(Lane::compute)];
    for (const std::size_t i : group.instructions) {
      launch(compute, i);
      if (poison) poison->fill(compute, tiers.arena->data(), poisoned.after[i]);
    }
  }

  void launch(net::Stream& stream, std::size_t i) {
    if (guards) guards->fill(stream, i, *poison);
    stream.launch(*resolved.commands[i].kernel, resolved.commands[i].arguments);
    if (guards) guards->copy_out(stream, i);
  }

  // All of its kernels ran once, so nothing is loaded or selected any more.
  void record(RecordedGroup& group) {
    try {
      group.recording = recorder->make_recording([&] { launch_each(group); });
    } catch (const std::exception& error) {
      group.one_by_one = true;
      if (std::exchange(warned, true)) return;
      const auto name = [&](std::size_t i) { return graph.node(plan.instructions[i].node).name; };
      log::warn(
          "the kernels from {} to {} could not be captured as one CUDA graph ({}). These kernels and others "
          "with the same problem are launched individually, which is slower and gives identical results",
          name(group.instructions.front()), name(group.instructions.back()), error.what());
    }
  }

  void enqueue(std::size_t i) {
    const StepCommand& command = resolved.commands[i];
    net::Stream& work = *streams[index(command.lane)];
    SlowLink* link = links[index(command.lane)].get();
    net::Stream& control = link != nullptr ? link->control() : work;
    for (net::Event* event : command.waits) control.wait(*event);
    control.record(*command.begun);
    if (link != nullptr) link->begin(work, *command.begun);
    if (command.kernel != nullptr)
      launch(work, i);
    else
      work.copy(command.to, command.source(), command.bytes);
    if (poison) poison->fill(work, tiers.arena->data(), poisoned.after[i]);
    if (link != nullptr) link->end(work, command.number);
    control.record(*command.done);
    if (command.ready) control.record(*command.ready);  // last, as in a group
  }

  // Waits for every lane, even after failures, and throws the first failure in the order of lanes.
  void synchronize() {
    for (const std::unique_ptr<net::Stream>& stream : streams)
      if (stream) wait_for(*stream);
    for (const std::unique_ptr<SlowLink>& link : links)
      if (link) wait_for(link->control());
    check_usable();
    if (guards) guards->check();
  }
  void wait_for(net::Stream& stream) {
    try {
      stream.synchronize();
    } catch (const Error& error) {
      if (!failure) failure = error;
    } catch (const std::exception& error) {
      if (!failure) failure = Error(Exit::failed, format("the step failed: {}", error.what()));
    }
  }
  void check_usable() const {
    if (failure) throw *failure;
  }

  CompiledGraph& compiled;
  net::Backend& backend;
  const net::Graph& graph;
  Plan plan;
  Tiers tiers;
  bool serial;
  Places places;
  StreamedValues streamed;
  StepReport report;
  net::StepContext context;  // of the current step; commands point to it
  ResolvedStep resolved;
  std::vector<RecordedGroup> groups;        // empty: kernels are enqueued one by one
  std::vector<RecordedGroup*> group_of;     // per instruction: the group that it starts, or null
  net::Recorder* recorder = nullptr;        // the compute lane's stream
  bool warned = false;                      // a group could not be recorded
  std::unique_ptr<net::Event> started, go;  // the start of the step, and the event on which other lanes wait
  std::optional<Poison> poison;
  std::optional<WorkspaceGuards> guards;
  PoisonPlan poisoned;
  std::vector<ByteRange> poisoned_pool, poisoned_results;
  std::optional<Error> failure;
  // Last: they end first, and drain.
  std::array<std::unique_ptr<net::Stream>, lane_count> streams;
  Links links;
};

Executor::Executor(CompiledGraph& compiled, Plan plan, Tiers tiers, ExecutorOptions options)
    : state_(std::make_unique<State>(compiled, std::move(plan), std::move(tiers), options)) {}
Executor::~Executor() = default;

const Plan& Executor::plan() const {
  return state_->plan;
}

void Executor::write(net::ValueId value, const void* bytes, std::int64_t size) {
  state_->put(value, bytes, size, /*stays=*/false);
}

void Executor::lend(net::ValueId input, const void* bytes, std::int64_t size) {
  state_->put(input, bytes, size, /*stays=*/true);
}

void Executor::read(net::ValueId value, void* bytes, std::int64_t size) {
  State& state = *state_;
  state.check_usable();
  const net::Value& source = state.graph.value(value);
  if (size != source.bytes())
    fail(Exit::failed, "'{}' holds {}, but {} were requested", source.name, counted(source.bytes(), "byte"),
         size);
  net::Stream& stream = *state.streams[index(Lane::compute)];
  stream.copy(bytes, state.place_of_result(value), size);
  stream.synchronize();
}

const std::byte* Executor::view(net::ValueId value) const {
  state_->check_usable();
  return state_->place_of_result(value);
}

const StepReport& Executor::run(const net::StepContext& context, Detail detail,
                                const std::function<void()>& meanwhile) {
  State& state = *state_;
  const bool in_groups = detail == Detail::lanes && !state.groups.empty();
  state.check_usable();
  state.streamed.check_lent();
  const auto start = std::chrono::steady_clock::now();
  state.context = context;
  state.enqueue(in_groups);
  std::exception_ptr failed_meanwhile;
  try {
    if (meanwhile) meanwhile();
  } catch (...) {
    failed_meanwhile = std::current_exception();
  }
  state.synchronize();
  state.streamed.take_back();
  if (failed_meanwhile) std::rethrow_exception(failed_meanwhile);
  state.report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  read_times(state.backend, *state.started, state.resolved.commands, state.groups, in_groups, state.report);
  return state.report;
}

}  // namespace voxswap::swap
