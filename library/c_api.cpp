#include "library/c_api.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>

#include "base/interrupt.h"
#include "base/json.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/text.h"
#include "voxswap/voxswap.h"

namespace voxswap {

namespace {

using Words = std::vector<std::string>;
using OnEpoch = int (*)(const char* epoch);

char* copy_of(const Json& json) {
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  char* const copy = new char[text.size() + 1];
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

// Returns the result of `work`, or its error.
char* answer(const std::function<Json()>& work) {
  Json json;
  try {
    const InterruptScope scope;
    json["result"] = work();
  } catch (const Error& error) {
    json = {{"error", error.what()}, {"exit_code", static_cast<int>(error.exit())}};
  } catch (const std::exception& error) {
    json = {{"error", error.what()}, {"exit_code", static_cast<int>(Exit::failed)}};
  }
  return copy_of(json);
}

Experiment experiment_of(const Json& arguments) {
  return Experiment::read(arguments.at("experiment"), arguments.at("overrides").get<Words>());
}

Json plan_json(const Json& arguments, OnEpoch) {
  const StepPlan made = plan(experiment_of(arguments),
                             {.estimate = arguments.at("estimate"), .device = arguments.at("device")});
  return {{"planner", made.planner},
          {"device", made.device},
          {"device_bytes", made.device_bytes},
          {"host_bytes", made.host_bytes},
          {"disk_bytes", made.disk_bytes},
          {"swapped_bytes", made.swapped_bytes},
          {"recomputed_kernels", made.recomputed_kernels},
          {"step_seconds", made.step_seconds},
          {"compute_seconds", made.compute_seconds},
          {"lower_bound_seconds", made.lower_bound_seconds},
          {"plan", checked_json(made.json)}};
}

Json run_json(const Json& arguments, OnEpoch on_epoch) {
  const Experiment experiment = experiment_of(arguments);
  RunOptions options;
  options.resume = arguments.at("resume");
  if (on_epoch != nullptr)
    options.on_epoch = [&](const Epoch& epoch) {
      Json json = {{"repeat", epoch.repeat},
                   {"epoch", epoch.epoch},
                   {"epochs", epoch.epochs},
                   {"train_loss", epoch.train_loss},
                   {"validation_loss", epoch.validation_loss},
                   {"learning_rate", epoch.learning_rate},
                   {"seconds", epoch.seconds}};
      for (const auto& [region, score] : epoch.scores) json["scores"][region] = score;
      if (on_epoch(json.dump().c_str()) != 0) throw Error(Exit::failed, "ended by the caller after an epoch");
    };
  run(experiment, options);
  return experiment.folder();
}

Json check_json(const Json& arguments, OnEpoch) {
  const DatasetReport report =
      check(arguments.at("folder").get<std::string>(), arguments.at("layout").get<std::string>());
  Json json = {{"layout", report.layout},
               {"channels", report.channels},
               {"labels", Json::object()},
               {"cases", report.cases},
               {"problems", Json::array()}};
  for (const auto& [name, value] : report.labels) json["labels"][name] = value;
  for (const Problem& one : report.problems)
    json["problems"].push_back(
        {{"case", one.case_id}, {"severity", one.severity}, {"what", one.what}, {"fix", one.fix}});
  return json;
}

Json evaluate_json(const Json& arguments, OnEpoch) {
  EvaluationOptions options;
  for (const Json& region : arguments.at("regions"))
    options.regions.emplace_back(region.at(0), region.at(1).get<std::vector<int>>());
  options.metrics = arguments.at("metrics").get<Words>();
  options.empty = arguments.at("empty");
  options.partial = arguments.at("partial");
  Json rows = Json::array();
  for (const Score& score : evaluate(arguments.at("truth"), arguments.at("prediction"), options)) {
    Json row = {{"case", score.case_id}, {"region", score.region}};
    for (const std::string& name : options.metrics) row[name] = score.metrics.at(name);
    rows.push_back(std::move(row));
  }
  return rows;
}

Json be_quiet(const Json& arguments, OnEpoch) {
  const bool quiet = arguments.at("quiet");
  set_quiet(quiet);
  log::set_level(quiet ? log::Level::warning : log::Level::info);
  return {};
}

PredictOptions predict_options(const Json& arguments) {
  PredictOptions options;
  if (const Json& window = arguments.at("window"); !window.is_null())
    options.window = window.get<std::array<std::int64_t, 3>>();
  options.whole = arguments.at("whole");
  options.overlap = arguments.at("overlap");
  options.mirror = arguments.at("mirror");
  options.probabilities = arguments.at("probabilities");
  options.postprocessing = arguments.at("postprocessing");
  return options;
}

}  // namespace

void voxswap_free(char* text) {
  delete[] text;
}

char* voxswap_call(const char* function, const char* arguments, int (*on_epoch)(const char* epoch)) {
  static const std::map<std::string, Json (*)(const Json&, OnEpoch)> functions = {
      {"version", [](const Json&, OnEpoch) { return Json(version()); }},
      {"be_quiet", be_quiet},
      {"plan", plan_json},
      {"run", run_json},
      {"check", check_json},
      {"evaluate", evaluate_json}};
  return answer([&] {
    const auto found = functions.find(function);
    if (found == functions.end())
      throw Error(Exit::usage, format("{}: voxswap has no such function", function));
    return found->second(checked_json(arguments), on_epoch);
  });
}

char* voxswap_open_network(const char* arguments, void** network) {
  *network = nullptr;
  return answer([&] {
    const Json of = checked_json(arguments);
    auto opened = std::make_unique<Network>(of.at("runs").get<Words>(), predict_options(of));
    Json json = {
        {"channels", opened->channels()}, {"labels", Json::object()}, {"outputs", opened->outputs()}};
    for (const auto& [name, value] : opened->labels()) json["labels"][name] = value;
    *network = opened.release();
    return json;
  });
}

void voxswap_close_network(void* network) {
  delete static_cast<Network*>(network);
}

char* voxswap_predict(void* network, const float* voxels, const std::int64_t sides[4],
                      const double affine[12], std::int16_t* labels, float* probabilities) {
  return answer([&] {
    ImageView image{voxels, sides[0], {sides[3], sides[2], sides[1]}, {}};
    std::copy_n(affine, 12, image.affine.begin());
    static_cast<Network*>(network)->predict(image, labels, probabilities);
    return Json();
  });
}

}  // namespace voxswap
