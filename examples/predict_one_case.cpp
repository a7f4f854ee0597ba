// Predicts the label map of one case with a finished run, and scores it where there is a ground truth:
//   predict_one_case RUN_DIR CASE_DIR OUT_DIR [TRUTH_DIR]
#include <voxswap/voxswap.h>

#include <cstdio>

int main(int count, char** words) {
  if (count < 4) {
    std::fprintf(stderr, "usage: %s RUN_DIR CASE_DIR OUT_DIR [TRUTH_DIR]\n", words[0]);
    return 2;
  }
  try {
    const auto run = voxswap::Experiment::of_run(words[1]);
    std::printf("%s, trained for %s epochs\n", run.setting("network.name").c_str(),
                run.setting("training.epochs").c_str());

    voxswap::PredictOptions options;
    options.mirror = true;
    voxswap::predict({words[1]}, words[2], words[3], options);

    if (count > 4)
      for (const auto& score : voxswap::evaluate(words[4], words[3], {.partial = true}))
        std::printf("%s %s: Dice %.3f\n", score.case_id.c_str(), score.region.c_str(),
                    score.metrics.at("dice"));
    return 0;
  } catch (const voxswap::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.exit());
  }
}
