#include "net/collective/ranks.h"

#include <cassert>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace voxswap::net {

namespace {

class Alone final : public Ranks {
 public:
  int rank() const override { return 0; }
  int count() const override { return 1; }
  int on_this_machine() const override { return 1; }
  void send(int, const void*, std::int64_t) override { assert(false && "there is no other rank to send to"); }
  void receive(int, void*, std::int64_t) override {
    assert(false && "there is no other rank to receive from");
  }
  bool has_sent(int) override { return false; }
};

void send_text(Ranks& ranks, int to, const std::string& text) {
  const auto size = static_cast<std::int64_t>(text.size());
  ranks.send(to, &size, sizeof size);
  ranks.send(to, text.data(), size);
}

std::string receive_text(Ranks& ranks, int from) {
  std::int64_t size = 0;
  ranks.receive(from, &size, sizeof size);
  std::string text(static_cast<std::size_t>(size), '\0');
  ranks.receive(from, text.data(), size);
  return text;
}

// The first pair of lines in which two texts differ.
std::pair<std::string, std::string> first_difference(const std::string& a, const std::string& b) {
  const std::vector<std::string> lines = split(a, '\n'), others = split(b, '\n');
  for (std::size_t i = 0; i < lines.size() && i < others.size(); ++i)
    if (lines[i] != others[i]) return {"'" + lines[i] + "'", "'" + others[i] + "'"};
  return {counted(lines.size(), "line"), counted(others.size(), "line")};
}

}  // namespace

Ranks& alone() {
  static Alone ranks;
  return ranks;
}

// Binomial tree.
void broadcast(Ranks& ranks, void* bytes, std::int64_t count) {
  int width = 1;
  while (width < ranks.count()) width *= 2;
  for (width /= 2; width > 0; width /= 2) {
    const int place = ranks.rank() % (2 * width);
    if (place == 0 && ranks.rank() + width < ranks.count()) ranks.send(ranks.rank() + width, bytes, count);
    if (place == width) ranks.receive(ranks.rank() - width, bytes, count);
  }
}

std::string broadcast(Ranks& ranks, const std::string& text) {
  auto size = static_cast<std::int64_t>(text.size());
  broadcast(ranks, &size, sizeof size);
  std::string result = ranks.is_first() ? text : std::string(static_cast<std::size_t>(size), '\0');
  broadcast(ranks, result.data(), size);
  return result;
}

std::vector<std::string> gather(Ranks& ranks, const std::string& text) {
  std::vector<std::string> all(static_cast<std::size_t>(ranks.count()));
  all[static_cast<std::size_t>(ranks.rank())] = text;
  if (!ranks.is_first()) send_text(ranks, 0, text);
  for (int other = 1; other < ranks.count(); ++other) {
    std::string& theirs = all[static_cast<std::size_t>(other)];
    if (ranks.is_first()) theirs = receive_text(ranks, other);
  }
  for (std::string& one : all) one = broadcast(ranks, one);
  return all;
}

bool any(Ranks& ranks, bool here) {
  char found = here ? 1 : 0;
  for (int width = 1; width < ranks.count(); width *= 2) {  // up the tree of broadcast()
    const int place = ranks.rank() % (2 * width);
    if (place == width) ranks.send(ranks.rank() - width, &found, 1);
    if (place == 0 && ranks.rank() + width < ranks.count()) {
      char theirs = 0;
      ranks.receive(ranks.rank() + width, &theirs, 1);
      found = found != 0 || theirs != 0 ? 1 : 0;
    }
  }
  broadcast(ranks, &found, 1);
  return found != 0;
}

void wait_for_all(Ranks& ranks) {
  any(ranks, false);
}

void agree(Ranks& ranks, const std::string& what, const std::string& text) {
  const std::vector<std::string> all = gather(ranks, text);
  for (std::size_t other = 1; other < all.size(); ++other) {
    if (all[other] == all[0]) continue;
    const auto [theirs, ours] = first_difference(all[other], all[0]);
    fail(Exit::usage, "rank {} has another {} than rank 0: {}, not {}. The ranks of a run must agree", other,
         what, theirs, ours);
  }
}

}  // namespace voxswap::net
