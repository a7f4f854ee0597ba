// Runs a sweep in rounds: one round trains every cell to its end; with successive halving, each round trains
// the remaining cells to a rung, and the last one to their ends.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/sweep_jobs.h"
#include "experiments/sweep.h"
#include "pipeline/sweep/halving.h"

namespace voxswap::cli {

// The cells of a round that this process runs: every N-th, starting with the K-th.
struct Part {
  std::size_t number = 1, of = 1;

  bool is_whole() const { return of == 1; }
  std::string name() const { return is_whole() ? "" : format("{}-of-{}", number, of); }
};
Part part_of(const std::string& text);  // "2/8"; throws Exit::usage

// Every N-th item, starting with the K-th.
template <class Item>
std::vector<Item> items_of(const std::vector<Item>& items, const Part& part) {
  std::vector<Item> mine;
  for (std::size_t i = part.number - 1; i < items.size(); i += part.of) mine.push_back(items[i]);
  return mine;
}

// The decisions so far and the next round, from the files of all cells.
pipeline::HalvedSweep halved(const experiments::Sweep& sweep);

// Runs rounds until all cells have ended or have been stopped, or the next decision needs cells of other
// parts. Returns false after an interrupt. Dismisses the places.
bool run_rounds(const experiments::Sweep& sweep, const Part& part, const std::vector<CellPlace>& places);

// Records in the outcomes of cells which of them were stopped.
void record_stops(const experiments::Sweep& sweep, const pipeline::HalvedSweep& halved);

// The rungs and the epochs that are trained at most; empty without halving. `seconds`: of each cell.
std::string halving_forecast(const experiments::Sweep& sweep, const std::vector<double>& seconds);

}  // namespace voxswap::cli
