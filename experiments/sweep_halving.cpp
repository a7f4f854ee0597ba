#include "experiments/sweep_halving.h"

#include "base/error.h"
#include "base/text.h"
#include "experiments/value_types.h"

namespace voxswap::experiments {

namespace {

// An entry of `sweep:`; null if it is not given.
const Yaml* find(const Draft& draft, const char* word) {
  const auto found = draft.stated.find(word);
  return found == draft.stated.end() ? nullptr : &found->second;
}

bool is_halving(const Draft& draft) {
  const Yaml* const stop = find(draft, "stop");
  const bool halves = stop && value_types::read_choice(*stop, "sweep.stop", {"none", "halving"}) == "halving";
  for (const char* word : {"eta", "first_rung"})
    if (const Yaml* value = find(draft, word); value && !halves)
      fail(Exit::usage, "{}: sweep.{}: is only for sweep.stop: halving", value->where, word);
  return halves;
}

}  // namespace

std::vector<pipeline::Rung> read_rungs(const Draft& draft, const std::string& command, std::size_t settings,
                                       std::int64_t epochs) {
  if (!is_halving(draft)) return {};
  const std::string where = find(draft, "stop")->where + ": sweep.stop";
  pipeline::Halving halving;
  if (const Yaml* eta = find(draft, "eta"))
    halving.eta = value_types::read_whole(*eta, "sweep.eta", {2, 100});
  if (const Yaml* first = find(draft, "first_rung"))
    halving.first_rung = value_types::read_number(*first, "sweep.first_rung", {0, 0.5});
  if (command != "run") fail(Exit::usage, "{}: is only for sweep.command run, not for {}", where, command);
  if (settings < 2)
    fail(Exit::usage,
         "{}: halving needs several settings, but all cells are repeats or folds of one. Sweep over another "
         "key, or set sweep.stop=none",
         where);
  const std::vector<pipeline::Rung> found = pipeline::rungs(halving, settings, epochs);
  const bool too_short = epochs < halving.eta;
  if (found.empty())
    fail(Exit::usage,
         "{}: no cell can be stopped, because the last decision is after 1/{} (sweep.eta) of the epochs, and "
         "{}. "
         "Set a lower sweep.eta{}",
         where, halving.eta,
         too_short ? format("training.epochs is {}", epochs)
                   : format("sweep.first_rung is {}", number(halving.first_rung)),
         too_short ? " or more epochs" : " or sweep.first_rung");
  return found;
}

}  // namespace voxswap::experiments
