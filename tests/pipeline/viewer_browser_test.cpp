// Tests the slice viewer in headless Chromium, driven by viewer_driver.js. Without Chromium, only
// viewer_test.cpp tests it.
#include <cstdlib>

#include "tests/pipeline/viewed_runs.h"

namespace voxswap::pipeline {
namespace {

class Browser : public ViewedRuns {
 protected:
  static bool is_here() { return std::system("command -v chromium >/dev/null 2>&1") == 0; }

  // The page's DOM after the driver has finished, in a window of this size.
  std::string driven(const fs::path& page, const std::string& size, const std::string& more) const {
    const fs::path driver = fs::path(VOXSWAP_SOURCE_DIR) / "tests/pipeline/viewer_driver.js",
                   copy = folder_ / "driven.html";
    std::string html = read_file(page);
    html.insert(html.find("<style>"), "<script>" + read_file(driver) + "</script>");
    write_file(copy, html);
    const std::string command = format(
        "chromium --headless --no-sandbox --disable-gpu --user-data-dir='{0}/profile' "
        "--host-resolver-rules='MAP * ~NOTFOUND' "
        "--window-size={1} {2} --virtual-time-budget=600000 --dump-dom 'file://{3}' >'{0}/dom.html' "
        "2>'{0}/browser.log'",
        folder_.string(), size, more, fs::absolute(copy).string());
    EXPECT_EQ(std::system(command.c_str()), 0) << read_file(folder_ / "browser.log");
    const std::string dom = read_file(folder_ / "dom.html");
    const std::size_t begin = dom.find("<pre id=\"seen\">");
    return begin == dom.npos ? "the driver did not come to its end"
                             : dom.substr(begin, dom.find("</pre>", begin) - begin);
  }
};

TEST_F(Browser, ShowsSlicesAndFollowsMouseFingersAndKeys) {
  if (!is_here()) GTEST_SKIP() << "chromium is not installed";
  report_made_up({make_viewed_run("first", 1), make_viewed_run("second", 2)}, folder_ / "out");
  const std::string wide = driven(folder_ / "out" / "report.html", "1400,900", "");
  EXPECT_NE(wide.find("done"), std::string::npos) << wide;
  EXPECT_EQ(wide.find("no: "), std::string::npos) << wide;
  const std::string narrow = driven(folder_ / "out" / "report.html", "500,900", "--force-dark-mode");
  EXPECT_NE(narrow.find("done"), std::string::npos) << narrow;
  EXPECT_EQ(narrow.find("no: "), std::string::npos) << narrow;
}

}  // namespace
}  // namespace voxswap::pipeline
