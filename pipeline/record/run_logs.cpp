#include "pipeline/record/run_logs.h"

#include <chrono>
#include <cmath>

#include "base/json.h"
#include "pipeline/report/slice_view.h"

namespace voxswap::pipeline {

namespace {

fs::path event_folder(const Experiment& experiment, std::int64_t repeat) {
  const fs::path folder = experiment.output / "tensorboard";
  return experiment.training.repeats > 1 ? folder / format("repeat_{}", repeat) : folder;
}

Json line(const char* what, std::int64_t repeat) {
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  return {{"what", what}, {"time", std::round(now.count() * 1e3) / 1e3}, {"repeat", repeat}};
}

std::string line_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

RunLogs::RunLogs(const Experiment& experiment, const std::string& resolved, std::int64_t repeat,
                 std::int64_t epoch, std::int64_t step)
    : repeat_(repeat),
      writes_events_(experiment.training.log.tensorboard),
      writes_lines_(experiment.training.log.jsonl) {
  if (writes_events_) {
    events_ = EventFile(event_folder(experiment, repeat), step > 1 ? step : 0);
    if (step == 1) events_.text("experiment", "```yaml\n" + resolved + "\n```");
  }
  if (!writes_lines_) return;
  lines_ = Journal(experiment.output / "log.jsonl");
  Json begin = line("begin", repeat);
  begin.update({{"run", experiment.name},
                {"epoch", epoch},
                {"next_step", step},
                {"epochs", experiment.training.epochs},
                {"repeats", experiment.training.repeats}});
  lines_.add(line_text(begin));
}

void RunLogs::step(const StepNote& note) {
  events_.number("loss/step", note.total, note.loss);
  if (!writes_lines_) return;
  Json json = line("step", repeat_);
  json.update({{"epoch", note.epoch},
               {"step", note.step},
               {"steps", note.steps},
               {"total_step", note.total},
               {"loss", note.loss},
               {"learning_rate", note.learning_rate},
               {"seconds", note.seconds}});
  lines_.add(line_text(json));
}

void RunLogs::epoch(const EpochRow& row, std::int64_t total,
                    const std::vector<std::pair<std::string, double>>& scores) {
  // Over steps, so that all plots in TensorBoard share an axis.
  events_.number("loss/train", total, row.train_loss);
  events_.number("loss/validation", total, row.validation_loss);
  for (const auto& [name, value] : scores) events_.number("validation/" + name, total, value);
  events_.number("learning_rate", total, row.learning_rate);
  events_.number("epoch", total, static_cast<double>(row.epoch));
  events_.number("speed/epoch_seconds", total, row.seconds);
  events_.number("speed/megavoxels_per_second", total, row.megavoxels_per_second);
  events_.number("speed/stall_seconds", total, row.stall_seconds);
  events_.number("memory/device_peak_bytes", total, static_cast<double>(row.device_peak_bytes));
  if (!writes_lines_) return;
  Json json = line("epoch", repeat_);
  const Csv table = csv_of<EpochRow>({row});  // all columns except those written above
  for (std::size_t i = 0; i < table.header.size(); ++i) {
    if (table.header[i] == "run" || table.header[i] == "repeat") continue;
    const Json value = parse_json(table.rows[0][i]);
    json[table.header[i]] = value.is_number() ? value : Json(table.rows[0][i]);
  }
  for (const auto& [name, value] : scores) json["validation"][name] = value;
  json["total_step"] = total;
  lines_.add(line_text(json));
}

bool RunLogs::takes_pictures(std::int64_t epoch) const {
  return writes_events_ && (epoch <= 10 || epoch % 10 == 0);
}

void RunLogs::picture(const std::string& case_id, std::int64_t total, const std::string& png) {
  events_.picture("validation/" + case_id, total, png, slices_caption(png));
}

void log_pictures(const Experiment& experiment, const std::vector<std::string>& cases) {
  if (!experiment.training.log.tensorboard) return;
  EventFile events(event_folder(experiment, 1));
  for (const std::string& id : cases) {
    const fs::path png = experiment.output / "slices" / (id + ".png");
    if (!fs::exists(png)) continue;
    const std::string bytes = read_file(png);
    events.picture("slices/" + id, 0, bytes, slices_caption(bytes));
  }
}

}  // namespace voxswap::pipeline
