// What some devices can do beyond what every Backend can. Who wants to use it asks whether the object at hand
// has it (dynamic_cast), and does without where it has not.
#pragma once

#include <string>

#include "net/backend.h"

namespace voxswap {

class TuningBackend : public Backend {
 public:
  // Which routines were chosen by their time so far, and on what device; "" for none.
  virtual std::string routines() const = 0;
  // Those of other backends, which are to be taken again where they can be: several may follow one another,
  // of a routine the first counts. Warns of what cannot be. REQUIRES: nothing was compiled yet.
  virtual void take_routines(const std::string& earlier) = 0;
};

}  // namespace voxswap
