#include "pipeline/report/setting.h"

namespace voxswap::pipeline {

bool distinguishes_models(Decides decides) {
  switch (decides) {
    case Decides::nothing:
    case Decides::name:
    case Decides::fold:
    case Decides::resolution:
    case Decides::chance:
    case Decides::shown:
      return false;
    default:
      return true;
  }
}

}  // namespace voxswap::pipeline
