// The ranks that train one model together: processes of one program, on one or more machines, that differ
// only in their number. An implementation provides send and receive; all else is built on these
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
  virtual int count() const = 0;  // number of ranks (world size)
  // Ranks on this machine, which share its memory and cores.
  virtual int on_this_machine() const = 0;
  virtual int index_on_this_machine() const { return 0; }  // index of this rank among them

  // Blocking: return when the bytes may be reused, or have arrived. Messages between two ranks arrive in
  // order. REQUIRES: the other rank calls the opposite with the same count; one thread at a time.
  virtual void send(int to, const void* bytes, std::int64_t count) = 0;
  virtual void receive(int from, void* bytes, std::int64_t count) = 0;
  virtual bool has_sent(int from) = 0;  // true if a message waits to be received
  // Sends and receives at the same time. A count of 0 sends no message. REQUIRES: the other rank swaps too.
  virtual void swap(int other, const void* sent, std::int64_t sent_count, void* received,
                    std::int64_t received_count);

  // Collective, the last call: waits until all ranks leave.
  virtual void leave() {}

  bool is_first() const { return rank() == 0; }  // prints and writes files
  bool is_alone() const { return count() == 1; }
};

Ranks& alone();  // the only rank of a program that was not launched as several

// Collective: all ranks call these in the same order.
void broadcast(Ranks& ranks, void* bytes, std::int64_t count);  // from rank 0 to all
std::string broadcast(Ranks& ranks, const std::string& text);   // returns rank 0's text
std::vector<std::string> gather(Ranks& ranks,
                                const std::string& text);  // texts of all ranks, on all ranks (all-gather)
bool any(Ranks& ranks, bool here);                         // true if true on any rank
void wait_for_all(Ranks& ranks);

// Throws Exit::usage on all ranks if one has another text than rank 0. The message names it and the first
// lines that differ.
void agree(Ranks& ranks, const std::string& what, const std::string& text);

}  // namespace voxswap::net
