// Everything is resolved when the executor is made: addresses, argument lists, what is poisoned after which
// instruction. A step then only enqueues on one compute stream and waits for it.
//
// Poisoning (VOXSWAP_POISON=1; on by itself in builds without optimisation, off with VOXSWAP_POISON=0): every
// place that is free is filled with bytes 0xff, a NaN in every floating point type, so that a read of dead
// memory shows in the loss.
#include "swap/executor.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"

namespace voxswap {
namespace {

std::size_t index(std::int32_t id) {
  return static_cast<std::size_t>(id);
}

bool poisoning_wanted() {
  if (const char* setting = std::getenv("VOXSWAP_POISON")) return std::string(setting) == "1";
#ifdef __OPTIMIZE__
  return false;
#else
  return true;
#endif
}

struct Stretch {  // of the arena
  std::int64_t offset = 0, bytes = 0;
};

// The parts of [0, size) that none of `taken` covers.
std::vector<Stretch> gaps(std::vector<Stretch> taken, std::int64_t size) {
  std::sort(taken.begin(), taken.end(),
            [](const Stretch& a, const Stretch& b) { return a.offset < b.offset; });
  std::vector<Stretch> result;
  std::int64_t top = 0;
  for (const Stretch& stretch : taken) {
    if (const std::int64_t end = std::min(stretch.offset, size); end > top)
      result.push_back({top, end - top});
    top = std::max(top, stretch.offset + stretch.bytes);
  }
  if (top < size) result.push_back({top, size - top});
  return result;
}

// Fills stretches of the arena from a small block of poison, through the stream, as any device can.
struct Poison {
  static constexpr std::int64_t block_bytes = std::int64_t{1} << 20;
  std::unique_ptr<Memory> block;
  std::vector<Stretch> before;              // the first instruction
  std::vector<std::vector<Stretch>> after;  // each instruction

  void fill(Stream& stream, std::byte* arena, const std::vector<Stretch>& stretches) const {
    for (const Stretch& stretch : stretches)
      for (std::int64_t done = 0; done < stretch.bytes; done += block_bytes)
        stream.copy(arena + stretch.offset + done, block->data(),
                    std::min(block_bytes, stretch.bytes - done));
  }
};

}  // namespace

CompiledGraph::CompiledGraph(Backend& backend, Graph graph) : backend_(&backend), graph_(std::move(graph)) {
  for (const Node& node : graph_.nodes()) {
    kernels_.push_back(backend.compile(graph_, node));
    workspaces_.push_back(kernels_.back()->workspace_bytes());
  }
}

struct Executor::State {
  State(CompiledGraph& compiled_graph, Plan the_plan, Tiers the_tiers)
      : compiled(compiled_graph), plan(std::move(the_plan)), tiers(std::move(the_tiers)), arena(tiers.arena) {
    const std::vector<std::string> violations = verify(compiled.graph(), compiled.workspaces(), plan);
    if (!violations.empty())
      fail(Exit::failed, "the plan of planner {} is broken in {} ways and was not run; the first: {}",
           plan.planner, violations.size(), violations.front());
    if (arena->bytes() < plan.peak_bytes)
      fail(Exit::failed, "the plan needs an arena of {}, it was given {}", format_bytes(plan.peak_bytes),
           format_bytes(arena->bytes()));
    resolve_places();
    build_launches();
    stream = compiled.backend().make_stream();
    if (poisoning_wanted()) prepare_poison();
  }

  void resolve_places() {
    place.assign(compiled.graph().values().size(), nullptr);
    workspace.assign(compiled.graph().nodes().size(), nullptr);
    outlives_step.assign(place.size(), false);
    for (const Residency& r : plan.residencies)
      (r.value == none ? workspace[index(r.node)] : place[index(r.value)]) = arena->data() + r.offset;
    for (std::size_t id = 0; id < place.size(); ++id)
      outlives_step[id] = compiled.graph().values()[id].persistent();
    for (const ValueId value : plan.kept) outlives_step[index(value)] = true;
  }

  // All addresses in one array, whose size is known beforehand so that the spans into it stay.
  void build_launches() {
    const Graph& graph = compiled.graph();
    std::size_t count = 0;
    for (const Node& node : graph.nodes())
      count += node.inputs.size() + node.outputs.size() + node.updates.size();
    addresses.reserve(count);
    const auto span_of = [&](const std::vector<ValueId>& values) {
      const std::size_t begin = addresses.size();
      for (const ValueId value : values) addresses.push_back(place[index(value)]);
      return std::span<void* const>(addresses.data() + begin, values.size());
    };
    for (const Instruction& instruction : plan.instructions) {
      const Node& node = graph.node(instruction.node);
      KernelArguments arguments;
      arguments.inputs = span_of(node.inputs);
      arguments.outputs = span_of(node.outputs);
      arguments.updates = span_of(node.updates);
      arguments.workspace = workspace[index(instruction.node)];
      arguments.context = &context;
      launches.push_back({&compiled.kernel(instruction.node), arguments});
    }
  }

  void prepare_poison() {
    poison = std::make_unique<Poison>();
    poison->block = compiled.backend().allocate(Poison::block_bytes);
    const std::vector<std::byte> bytes(static_cast<std::size_t>(Poison::block_bytes), std::byte{0xff});
    stream->copy(poison->block->data(), bytes.data(), Poison::block_bytes);
    stream->synchronize();

    std::vector<Stretch> from_outside;  // holds something before the first instruction
    poison->after.resize(plan.instructions.size());
    for (const Residency& r : plan.residencies) {
      const bool is_value = r.value != none;
      if (is_value && compiled.graph().value(r.value).producer == none)
        from_outside.push_back({r.offset, r.bytes});
      if (is_value && outlives_step[index(r.value)]) continue;
      // What is live after the last instruction of `r` was written over it in place: that part stays.
      std::vector<Stretch> heirs;
      for (const Residency& other : plan.residencies)
        if (&other != &r && other.first <= r.last &&
            (r.last < other.last || (other.value != none && outlives_step[index(other.value)])))
          heirs.push_back({other.offset - r.offset, other.bytes});
      for (const Stretch& dead : gaps(heirs, r.bytes))
        poison->after[index(r.last)].push_back({r.offset + dead.offset, dead.bytes});
    }
    poison->before = gaps(from_outside, plan.peak_bytes);
  }

  struct Launch {
    Kernel* kernel;
    KernelArguments arguments;
  };

  CompiledGraph& compiled;
  Plan plan;
  Tiers tiers;
  std::shared_ptr<Memory> arena;
  StepReport report;
  StepContext context;  // of the step that runs; the launches point to it
  std::vector<std::byte*> place, workspace;
  std::vector<bool> outlives_step;
  std::vector<void*> addresses;
  std::vector<Launch> launches;
  std::unique_ptr<Poison> poison;
  std::unique_ptr<Stream> stream;  // last: ends first, and drains
};

Executor::Executor(CompiledGraph& compiled, Plan plan, Tiers tiers, ExecutorOptions)
    : state_(std::make_unique<State>(compiled, std::move(plan), std::move(tiers))) {}
Executor::~Executor() = default;

const Plan& Executor::plan() const {
  return state_->plan;
}

void Executor::write(ValueId value, const void* bytes, std::int64_t size) {
  const Value& target = state_->compiled.graph().value(value);
  if (size != target.bytes())
    fail(Exit::failed, "'{}' takes {} bytes, it was given {}", target.name, target.bytes(), size);
  if (target.producer != none)
    fail(Exit::failed, "'{}' is made by the step and cannot be written from outside", target.name);
  if (state_->place[index(value)] == nullptr) return;  // an input that nothing reads
  state_->stream->copy(state_->place[index(value)], bytes, size);
  state_->stream->synchronize();
}

void Executor::read(ValueId value, void* bytes, std::int64_t size) {
  const Value& source = state_->compiled.graph().value(value);
  if (size != source.bytes())
    fail(Exit::failed, "'{}' has {} bytes, {} were asked for", source.name, source.bytes(), size);
  if (!state_->outlives_step[index(value)])
    fail(Exit::failed,
         "'{}' is gone after the step: it is neither persistent nor among the values that the plan keeps",
         source.name);
  state_->stream->copy(bytes, state_->place[index(value)], size);
  state_->stream->synchronize();
}

const StepReport& Executor::run(const StepContext& context) {
  const auto start = std::chrono::steady_clock::now();
  State& state = *state_;
  state.context = context;
  Stream& stream = *state.stream;
  if (state.poison) state.poison->fill(stream, state.arena->data(), state.poison->before);
  for (std::size_t i = 0; i < state.launches.size(); ++i) {
    stream.launch(*state.launches[i].kernel, state.launches[i].arguments);
    if (state.poison) state.poison->fill(stream, state.arena->data(), state.poison->after[i]);
  }
  stream.synchronize();
  state.report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return state.report;
}

}  // namespace voxswap
