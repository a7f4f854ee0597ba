#include "pipeline/train/position.h"

#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "pipeline/record/checkpoint.h"

namespace voxswap::pipeline {

namespace {

// Reads the numbers of a list in order and validates each.
class Fields {
 public:
  Fields(const Checkpoint& checkpoint, const std::string& key, std::size_t count, const std::string& where)
      : values_(numbers_from(checkpoint, key, where)), key_(key), where_(where) {
    if (values_.size() != count)
      fail(Exit::bad_data, "{}: '{}' has {}, expected {}. The file was altered", where, key,
           counted(values_.size(), "number"), count);
  }

  std::int64_t whole(const char* name, std::int64_t least, std::int64_t most) {
    const double value = values_[next_++];
    // Up to this magnitude every integer is exact in a double.
    constexpr double exact = 9007199254740992.0;
    if (!(std::abs(value) <= exact) || value != std::floor(value) || value < static_cast<double>(least) ||
        value > static_cast<double>(most))
      refuse(name, value, format("a whole number from {} to {}", least, most));
    return static_cast<std::int64_t>(value);
  }
  double not_negative(const char* name) {
    const double value = values_[next_++];
    if (!(value >= 0) || std::isinf(value)) refuse(name, value, "a number of at least 0");
    return value;
  }
  double finite(const char* name) {
    const double value = values_[next_++];
    if (!std::isfinite(value)) refuse(name, value, "a finite number");
    return value;
  }
  double loss(const char* name) {  // infinite before the end of the first epoch
    const double value = values_[next_++];
    if (std::isnan(value) || value == -HUGE_VAL) refuse(name, value, "a loss");
    return value;
  }

  [[noreturn]] void refuse(const char* name, double value, const std::string& expected) const {
    fail(Exit::bad_data,
         "{}: '{}': {} is {}, expected {}. The file was altered or belongs to another training", where_, key_,
         name, number(value), expected);
  }

 private:
  std::vector<double> values_;
  std::string key_, where_;
  std::size_t next_ = 0;
};

constexpr std::int64_t most = 1LL << 53;

}  // namespace

std::map<std::string, std::string> to_metadata(const Position& p) {
  const ScheduleState& s = p.schedule;
  return {{"position",
           numbers_text({double(p.epoch), double(p.step), double(p.total_steps), p.loss_sum, p.train_seconds,
                         p.wait_seconds, p.finished ? 1.0 : 0.0, p.stall_seconds, double(p.moved.out_bytes),
                         double(p.moved.in_bytes), double(p.moved.recomputed_nodes)})},
          {"schedule",
           numbers_text({s.best_loss, s.plateau_best, double(s.best_epoch), double(s.waited), s.rate})}};
}

Position to_position(const Checkpoint& checkpoint, std::int64_t epochs, std::int64_t steps_per_epoch,
                     const std::string& where) {
  Fields p(checkpoint, "position", 11, where), s(checkpoint, "schedule", 5, where);
  Position position;
  position.epoch = p.whole("the current epoch", 1, epochs + 1);  // one past the last epoch: finished
  position.step = p.whole("the number of steps in it", 0, position.epoch > epochs ? 0 : steps_per_epoch);
  const std::int64_t steps = (position.epoch - 1) * steps_per_epoch + position.step;
  position.total_steps = p.whole("the total number of steps", steps, steps);
  position.loss_sum = p.finite("the sum of the epoch's losses");
  position.train_seconds = p.not_negative("the training time of the epoch");
  position.wait_seconds = p.finite("the waiting time of the epoch");
  position.finished = p.whole("the end of training", 0, 1) == 1;
  position.stall_seconds = p.not_negative("the stall time of the epoch");
  position.moved.out_bytes = p.whole("the bytes swapped out", 0, most);
  position.moved.in_bytes = p.whole("the bytes swapped in", 0, most);
  position.moved.recomputed_nodes = p.whole("the number of recomputed nodes", 0, most);
  position.schedule.best_loss = s.loss("the lowest validation loss");
  position.schedule.plateau_best = s.loss("the plateau's loss");
  position.schedule.best_epoch = s.whole("the best epoch", 0, position.epoch - 1);
  position.schedule.waited = s.whole("the epochs without improvement", 0, position.epoch - 1);
  position.schedule.rate = s.not_negative("the learning rate");
  return position;
}

}  // namespace voxswap::pipeline
