// Everything is resolved when the executor is made: addresses, argument lists, disk accesses, events, what is
// poisoned after which instruction. A step then only enqueues, in the plan's order, each instruction on the
// stream of its lane: first the waits for other lanes, then the work between two events. The second one is
// what others wait for; the time between them is the instruction's. Nothing waits on the host before all is
// enqueued. A full queue holds the enqueuing up but never for ever, because waits only point backwards.
//
// Lanes that the plan does not use have no stream. When something fails, its stream skips the rest of its
// work while its events still happen, so that all lanes run empty; the results of such a step mean nothing.
#include "swap/executor.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <optional>

#include "base/error.h"
#include "base/units.h"
#include "swap/places.h"
#include "swap/poison.h"
#include "swap/slow_link.h"

namespace voxswap {
namespace {

std::size_t index(std::int32_t id) {
  return static_cast<std::size_t>(id);
}

std::size_t index(Lane lane) {
  return static_cast<std::size_t>(lane);
}

// A disk access as a kernel for a host stream.
class DiskAccess : public Kernel {
 public:
  DiskAccess(ScratchFile& file, const Instruction& instruction, std::byte* pool)
      : file_(&file),
        writes_(instruction.kind == Instruction::Kind::write_disk),
        offset_(instruction.disk),
        place_(pool + instruction.host),
        bytes_(ScratchFile::whole_blocks(instruction.bytes)) {}
  void run(const KernelArguments&) override {
    if (writes_)
      file_->write(offset_, place_, bytes_);
    else
      file_->read(offset_, place_, bytes_);
  }

 private:
  ScratchFile* file_;
  bool writes_;
  std::int64_t offset_;
  std::byte* place_;
  std::int64_t bytes_;
};

Plan verified(const CompiledGraph& compiled, Plan plan) {
  const std::vector<std::string> violations = verify(compiled.graph(), compiled.workspaces(), plan);
  if (!violations.empty())
    fail(Exit::failed, "the plan of planner {} is broken in {} ways and was not run; the first: {}",
         plan.planner, violations.size(), violations.front());
  return plan;
}

// An instruction with all that its enqueuing needs.
struct Command {
  Lane lane = Lane::compute;
  Kernel* kernel = nullptr;  // null: a copy
  KernelArguments arguments;
  void* to = nullptr;
  const void* from = nullptr;
  std::int64_t bytes = 0;
  std::vector<Event*> waits;
  std::unique_ptr<Event> begun, done;
  std::size_t number = 0;  // of a copy on its slow link
};

}  // namespace

CompiledGraph::CompiledGraph(Backend& backend, Graph graph) : backend_(&backend), graph_(std::move(graph)) {
  for (const Node& node : graph_.nodes()) {
    kernels_.push_back(backend.compile(graph_, node));
    workspaces_.push_back(kernels_.back()->workspace_bytes());
  }
}

struct Executor::State {
  State(CompiledGraph& compiled_graph, Plan the_plan, Tiers the_tiers, const ExecutorOptions& options)
      : compiled(compiled_graph),
        backend(compiled_graph.backend()),
        graph(compiled_graph.graph()),
        plan(verified(compiled_graph, std::move(the_plan))),
        tiers(std::move(the_tiers)),
        serial(options.serial),
        places(graph, plan) {
    check_tiers();
    make_streams(options);
    build_commands();
    started = backend.make_event();
    report.begin.resize(commands.size());
    report.end.resize(commands.size());
    if (poisoning_wanted()) {
      poison.emplace(backend);
      poisoned = plan_poison(graph, compiled.workspaces(), plan, serial);
      if (plan.host_bytes > 0) poisoned_pool = {{0, plan.host_bytes}};
    }
  }

  void check_tiers() const {
    const auto check = [](const char* what, std::int64_t needed, std::int64_t given) {
      if (given < needed)
        fail(Exit::failed, "the plan needs {} of {}, it was given {}", what, format_bytes(needed),
             format_bytes(given));
    };
    check("an arena", plan.peak_bytes, tiers.arena ? tiers.arena->bytes() : 0);
    check("a host pool", plan.host_bytes, tiers.host ? tiers.host->bytes() : 0);
    check("a scratch file", plan.disk_bytes, tiers.disk ? tiers.disk->bytes() : 0);
  }

  void make_streams(const ExecutorOptions& options) {
    std::array<bool, lane_count> used{};
    used[index(Lane::compute)] = true;
    for (const Instruction& instruction : plan.instructions) used[index(instruction.lane())] = true;
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
      if (!used[lane]) continue;
      const bool disk = lane == index(Lane::to_disk) || lane == index(Lane::from_disk);
      streams[lane] = disk ? backend.make_host_stream() : backend.make_stream();
    }
    const auto slow_down = [&](Lane lane, double rate) {
      if (used[index(lane)] && rate > 0) links[index(lane)] = std::make_unique<SlowLink>(backend, rate);
    };
    slow_down(Lane::to_host, options.to_host_rate);
    slow_down(Lane::to_device, options.to_device_rate);
  }

  void build_commands() {
    std::size_t count = 0;
    for (const Instruction& instruction : plan.instructions)
      if (instruction.kind == Instruction::Kind::run) {
        const Node& node = graph.node(instruction.node);
        count += node.inputs.size() + node.outputs.size() + node.updates.size();
      }
    addresses.reserve(count);  // the spans into it have to stay
    commands.reserve(plan.instructions.size());
    for (std::int32_t i = 0; index(i) < plan.instructions.size(); ++i) {
      commands.push_back(command(i, plan.instructions[index(i)]));
      add_waits(i);
    }
  }

  Command command(std::int32_t i, const Instruction& instruction) {
    Command result;
    result.lane = instruction.lane();
    result.begun = backend.make_event();
    result.done = backend.make_event();
    switch (instruction.kind) {
      case Instruction::Kind::run:
        result.kernel = &compiled.kernel(instruction.node);
        result.arguments = arguments(i, instruction.node);
        return result;
      case Instruction::Kind::copy_out:
      case Instruction::Kind::copy_in: {
        std::byte* device = address(instruction.value, i) + instruction.begin;
        std::byte* host = tiers.host->data() + instruction.host;
        const bool out = instruction.kind == Instruction::Kind::copy_out;
        result.to = out ? host : device;
        result.from = out ? device : host;
        result.bytes = instruction.bytes;
        if (links[index(result.lane)]) result.number = links[index(result.lane)]->add_copy(result.bytes);
        return result;
      }
      case Instruction::Kind::write_disk:
      case Instruction::Kind::read_disk:
        if (instruction.host + ScratchFile::whole_blocks(instruction.bytes) > tiers.host->bytes())
          fail(Exit::failed, "instruction {}: the last block of a disk access is outside the host pool", i);
        accesses.push_back(std::make_unique<DiskAccess>(*tiers.disk, instruction, tiers.host->data()));
        result.kernel = accesses.back().get();
        return result;
    }
    return result;
  }

  KernelArguments arguments(std::int32_t i, NodeId id) {
    const auto span_of = [&](const std::vector<ValueId>& values) {
      const std::size_t begin = addresses.size();
      for (const ValueId value : values) addresses.push_back(address(value, i));
      return std::span<void* const>(addresses.data() + begin, values.size());
    };
    const Node& node = graph.node(id);
    KernelArguments result;
    result.inputs = span_of(node.inputs);
    result.outputs = span_of(node.outputs);
    result.updates = span_of(node.updates);
    if (const Residency* place = places.of_workspace(id, i))
      result.workspace = tiers.arena->data() + place->offset;
    result.context = &context;
    return result;
  }

  // REQUIRES: resident there, which verify() has seen.
  std::byte* address(ValueId value, std::int32_t i) const {
    return tiers.arena->data() + places.of_value(value, i)->offset;
  }

  void add_waits(std::int32_t i) {
    Command& later = commands[index(i)];
    for (const std::int32_t earlier : plan.instructions[index(i)].waits)
      later.waits.push_back(commands[index(earlier)].done.get());
    if (serial && i > 0 && commands[index(i - 1)].lane != later.lane)
      later.waits.push_back(commands[index(i - 1)].done.get());
  }

  void enqueue() {
    Stream& compute = *streams[index(Lane::compute)];
    if (poison) {
      poison->fill(compute, tiers.arena->data(), poisoned.before);
      if (tiers.host) poison->fill(compute, tiers.host->data(), poisoned_pool);
    }
    compute.record(*started);
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
      if (streams[lane] && lane != index(Lane::compute)) streams[lane]->wait(*started);
      if (links[lane]) links[lane]->control().wait(*started);
    }
    for (std::size_t i = 0; i < commands.size(); ++i) enqueue(i);
  }

  void enqueue(std::size_t i) {
    const Command& command = commands[i];
    Stream& work = *streams[index(command.lane)];
    SlowLink* link = links[index(command.lane)].get();
    Stream& control = link != nullptr ? link->control() : work;
    for (Event* event : command.waits) control.wait(*event);
    control.record(*command.begun);
    if (link != nullptr) link->begin(work, *command.begun);
    if (command.kernel != nullptr)
      work.launch(*command.kernel, command.arguments);
    else
      work.copy(command.to, command.from, command.bytes);
    if (poison) poison->fill(work, tiers.arena->data(), poisoned.after[i]);
    if (link != nullptr) link->end(work, command.number);
    control.record(*command.done);
  }

  // Waits for every lane, whatever failed in another, and throws what failed first in the order of lanes.
  void synchronize() {
    for (const std::unique_ptr<Stream>& stream : streams)
      if (stream) wait_for(*stream);
    for (const std::unique_ptr<SlowLink>& link : links)
      if (link) wait_for(link->control());
    check_usable();
  }
  void wait_for(Stream& stream) {
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

  void fill_report() {
    for (double& seconds : report.busy_seconds) seconds = 0;
    report.stall_seconds = 0;
    double compute_ended = 0;
    for (std::size_t i = 0; i < commands.size(); ++i) {
      const Command& command = commands[i];
      report.begin[i] = backend.elapsed(*started, *command.begun);
      report.end[i] = backend.elapsed(*started, *command.done);
      report.busy_seconds[index(command.lane)] += report.end[i] - report.begin[i];
      if (command.lane != Lane::compute) continue;
      if (!command.waits.empty()) report.stall_seconds += report.begin[i] - compute_ended;
      compute_ended = report.end[i];
    }
    report.compute_seconds = report.busy_seconds[index(Lane::compute)];
  }

  CompiledGraph& compiled;
  Backend& backend;
  const Graph& graph;
  Plan plan;
  Tiers tiers;
  bool serial;
  Places places;
  StepReport report;
  StepContext context;  // of the step that runs; the commands point to it
  std::vector<void*> addresses;
  std::vector<std::unique_ptr<DiskAccess>> accesses;
  std::vector<Command> commands;
  std::unique_ptr<Event> started;
  std::optional<Poison> poison;
  PoisonPlan poisoned;
  std::vector<ByteRange> poisoned_pool;
  std::optional<Error> failure;
  // Last: they end first, and drain.
  std::array<std::unique_ptr<Stream>, lane_count> streams;
  std::array<std::unique_ptr<SlowLink>, lane_count> links;
};

Executor::Executor(CompiledGraph& compiled, Plan plan, Tiers tiers, ExecutorOptions options)
    : state_(std::make_unique<State>(compiled, std::move(plan), std::move(tiers), options)) {}
Executor::~Executor() = default;

const Plan& Executor::plan() const {
  return state_->plan;
}

void Executor::write(ValueId value, const void* bytes, std::int64_t size) {
  State& state = *state_;
  state.check_usable();
  const Value& target = state.graph.value(value);
  if (size != target.bytes())
    fail(Exit::failed, "'{}' takes {} bytes, it was given {}", target.name, target.bytes(), size);
  if (target.producer != none)
    fail(Exit::failed, "'{}' is made by the step and cannot be written from outside", target.name);
  if (state.places.all(value).empty()) return;  // an input that nothing reads
  Stream& stream = *state.streams[index(Lane::compute)];
  stream.copy(state.tiers.arena->data() + state.places.all(value).front()->offset, bytes, size);
  stream.synchronize();
}

void Executor::read(ValueId value, void* bytes, std::int64_t size) {
  State& state = *state_;
  state.check_usable();
  const Value& source = state.graph.value(value);
  if (size != source.bytes())
    fail(Exit::failed, "'{}' has {} bytes, {} were asked for", source.name, source.bytes(), size);
  const bool kept = std::find(state.plan.kept.begin(), state.plan.kept.end(), value) != state.plan.kept.end();
  if (!kept && !source.persistent())
    fail(Exit::failed,
         "'{}' is gone after the step: it is neither persistent nor among the values that the plan keeps",
         source.name);
  Stream& stream = *state.streams[index(Lane::compute)];
  stream.copy(bytes, state.tiers.arena->data() + state.places.all(value).back()->offset, size);
  stream.synchronize();
}

const StepReport& Executor::run(const StepContext& context, const std::function<void()>& meanwhile) {
  State& state = *state_;
  state.check_usable();
  const auto start = std::chrono::steady_clock::now();
  state.context = context;
  state.enqueue();
  std::exception_ptr failed_meanwhile;
  try {
    if (meanwhile) meanwhile();
  } catch (...) {
    failed_meanwhile = std::current_exception();
  }
  state.synchronize();
  if (failed_meanwhile) std::rethrow_exception(failed_meanwhile);
  state.report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  state.fill_report();
  return state.report;
}

}  // namespace voxswap
