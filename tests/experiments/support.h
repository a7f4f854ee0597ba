// Shared by the tests of experiments: a temporary folder with experiment files, and the message with which
// one is rejected.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "base/error.h"
#include "base/file.h"
#include "experiments/experiment.h"
#include "tests/expect.h"
#include "tests/folder.h"

namespace voxswap::experiments {

using test::contains;

// A temporary folder per test, with experiment files in it.
class Experiments : public test::InAFolder {
 protected:
  fs::path write(const std::string& text, const std::string& name = "study.yaml") const {
    fs::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  LoadedExperiment load(const std::string& text, const std::vector<std::string>& overrides = {}) const {
    return load_experiment(write(text), overrides);
  }
  virtual void read(const std::string& text, const std::vector<std::string>& overrides) const {
    load(text, overrides);
  }
  // The message with which the experiment is rejected, without the folder's name.
  std::string refusal(const std::string& text, const std::vector<std::string>& overrides = {}) const {
    std::string message = test::error_of([&] { read(text, overrides); }, Exit::usage);
    const std::string prefix = folder_.string() + "/";
    for (std::size_t at; (at = message.find(prefix)) != message.npos;) message.erase(at, prefix.size());
    return message.empty() ? "accepted" : message;
  }
  template <class... Parts>
  void expect_refused(const std::string& text, const std::vector<std::string>& overrides,
                      const Parts&... parts) const {
    EXPECT_TRUE(contains(refusal(text, overrides), parts...))
        << text.substr(0, 300) << testing::PrintToString(overrides);
  }
  void expect_refused(const std::string& text, const std::string& part) const {
    expect_refused(text, {}, part);
  }
};

}  // namespace voxswap::experiments
