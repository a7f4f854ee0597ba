// The ranks that train one model together: processes of one program, on one machine or many, that differ in
// nothing but their number. What a kind of them can do is send and receive; everything else is built on that
// (docs/explanation/ranks.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace voxswap::net {

class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual int rank() const = 0;   // 0 <= rank < count
  virtual int count() const = 0;  // of all
  // How many of them are on this machine and share its memory and cores.
  virtual int on_this_machine() const = 0;
  virtual int index_on_this_machine() const { return 0; }  // of these, in their order

  // Each returns when the bytes may be used again, or are there. What one rank sends another arrives in that
  // order. REQUIRES: the other does the opposite, with as many bytes; one thread at a time.
  virtual void send(int to, const void* bytes, std::int64_t count) = 0;
  virtual void receive(int from, void* bytes, std::int64_t count) = 0;
  virtual bool has_sent(int from) = 0;  // something that is yet to be received
  // Both at the same time; of nothing there is no message. REQUIRES: the other swaps as well.
  virtual void swap(int other, const void* sent, std::int64_t sent_count, void* received,
                    std::int64_t received_count);

  // The last thing that ranks do with one another, when all of them do it; waits for all.
  virtual void leave() {}

  bool is_first() const { return rank() == 0; }  // who prints and writes
  bool is_alone() const { return count() == 1; }
};

Ranks& alone();  // the one rank of a program that was started by itself

// All ranks call these, in the same order.
void broadcast(Ranks& ranks, void* bytes, std::int64_t count);           // rank 0's bytes come to all
std::string broadcast(Ranks& ranks, const std::string& text);            // rank 0's text
std::vector<std::string> gather(Ranks& ranks, const std::string& text);  // every rank's, on all of them
bool any(Ranks& ranks, bool here);                                       // whether it is so on any of them
void wait_for_all(Ranks& ranks);

// Throws Exit::usage on all of them when one has another text than rank 0, naming it and the first lines that
// differ.
void agree(Ranks& ranks, const std::string& what, const std::string& text);

}  // namespace voxswap::net
