#include "pipeline/record/pickle.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <unordered_map>

#include "base/text.h"

namespace voxswap::pipeline {

namespace {

constexpr std::size_t largest_pickle = std::size_t{64} << 20;

[[noreturn]] void unreadable(const std::string& what) {
  throw std::runtime_error(what);
}

// A name for messages: printable and short.
std::string shown_name(std::string_view text) {
  std::string result;
  for (const char c : text.substr(0, 60)) result += c > 0x1f && c < 0x7f ? c : '?';
  return result;
}

// The functions and classes of tensors, numbers and dictionaries. NumPy's have two modules, by version.
constexpr std::string_view ordered_dictionary = "collections OrderedDict",
                           rebuild_tensor = "torch._utils _rebuild_tensor_v2",
                           rebuild_parameter = "torch._utils _rebuild_parameter", torch_size = "torch Size";
constexpr std::string_view opaque_functions[] = {"torch device",
                                                 "torch dtype",
                                                 "numpy dtype",
                                                 "numpy ndarray",
                                                 "numpy.core.multiarray scalar",
                                                 "numpy._core.multiarray scalar",
                                                 "numpy.core.multiarray _reconstruct",
                                                 "numpy._core.multiarray _reconstruct",
                                                 "_codecs encode"};

constexpr std::string_view storage_types[] = {
    "torch DoubleStorage", "torch FloatStorage", "torch HalfStorage",  "torch BFloat16Storage",
    "torch LongStorage",   "torch IntStorage",   "torch ShortStorage", "torch CharStorage",
    "torch ByteStorage",   "torch BoolStorage"};

template <std::size_t count>
bool is_one_of(std::string_view name, const std::string_view (&names)[count]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool is_known(std::string_view name) {
  return name == ordered_dictionary || name == rebuild_tensor || name == rebuild_parameter ||
         name == torch_size || is_one_of(name, storage_types) || is_one_of(name, opaque_functions);
}

}  // namespace

using Kind = PickledValue::Kind;

// The stack machine. Each opcode makes at most one value, so memory is proportional to the pickle's size.
class PickleMachine {
 public:
  PickleMachine(std::string_view bytes, const std::vector<std::string>& names, Pickle& into)
      : rest_(bytes), most_items_(4 * bytes.size()), allowed_(names), into_(into) {}

  void run() {
    for (;;) {
      const auto opcode = static_cast<unsigned char>(take(1)[0]);
      if (opcode == '.') break;
      const auto found = actions().find(opcode);
      if (found == actions().end())
        unreadable(format("it has the opcode {}, which files of tensors do not have", opcode));
      found->second(*this);
    }
    into_.root_ = pop();
  }

 private:
  using Index = Pickle::Index;

  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) unreadable("it is truncated");
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string_view line() {
    const std::size_t end = rest_.find('\n');
    if (end == rest_.npos) unreadable("it is truncated");
    const std::string_view taken = take(end);
    take(1);
    return taken;
  }

  void count_items(std::size_t added) {
    items_ += added;
    if (items_ > most_items_) unreadable("it has more values than its size allows");
  }
  Index push(PickledValue value) {
    count_items(value.items.size());
    into_.values_.push_back(std::move(value));
    stack_.push_back(into_.values_.size() - 1);
    return stack_.back();
  }
  Index pop() {
    if (stack_.empty() || (!marks_.empty() && stack_.size() == marks_.back()))
      unreadable("it takes a value from an empty stack");
    const Index top = stack_.back();
    stack_.pop_back();
    return top;
  }
  std::vector<Index> pop_to_mark() {
    if (marks_.empty()) unreadable("it lacks a mark");
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<Index> taken(first, stack_.end());
    stack_.erase(first, stack_.end());
    marks_.pop_back();
    return taken;
  }
  PickledValue& top(Kind kind) {
    if (stack_.empty() || (!marks_.empty() && stack_.size() == marks_.back()))
      unreadable("it changes a value of an empty stack");
    PickledValue& value = into_.values_[stack_.back()];
    if (value.kind != kind) unreadable("it changes a value of another type than it says");
    return value;
  }
  const PickledValue& value(Index index) const { return into_.values_[index]; }

  void push_text(std::uint64_t size) { push({Kind::text, 0, 0, take(size)}); }
  void push_integer(std::int64_t number) { push({Kind::integer, number}); }
  void remember(std::size_t place) {
    if (stack_.empty()) unreadable("it remembers a value of an empty stack");
    memo_[place] = stack_.back();
  }
  void recall(std::size_t place) {
    const auto found = memo_.find(place);
    if (found == memo_.end()) unreadable("it recalls a value that it did not remember");
    stack_.push_back(found->second);
  }

  // A whole number of up to 8 bytes in two's complement.
  void push_long(std::uint64_t size) {
    if (size > 8) unreadable("it has a number of more than 64 bits");
    const std::string_view bytes = take(size);
    std::uint64_t number = !bytes.empty() && (bytes.back() & 0x80) != 0 ? ~std::uint64_t{0} : 0;
    for (std::size_t i = bytes.size(); i-- > 0;) number = number << 8U | static_cast<unsigned char>(bytes[i]);
    push_integer(static_cast<std::int64_t>(number));
  }

  // The action of each opcode. Byte strings are read as text.
  static const std::unordered_map<int, void (*)(PickleMachine&)>& actions() {
    using M = PickleMachine;
    static const std::unordered_map<int, void (*)(M&)> table = {
        {0x80, [](M& m) { m.take(1); }},                           // PROTO
        {0x95, [](M& m) { m.take(8); }},                           // FRAME
        {'(', [](M& m) { m.marks_.push_back(m.stack_.size()); }},  // MARK
        {'0', [](M& m) { m.pop(); }},                              // POP
        {'1', [](M& m) { m.pop_to_mark(); }},                      // POP_MARK
        {'N', [](M& m) { m.push({}); }},                           // NONE
        {0x88,
         [](M& m) {
           m.push({Kind::boolean, 1});
         }},  // NEWTRUE
        {0x89,
         [](M& m) {
           m.push({Kind::boolean, 0});
         }},                                                               // NEWFALSE
        {'J', [](M& m) { m.push_integer(m.number<std::int32_t>()); }},     // BININT
        {'K', [](M& m) { m.push_integer(m.number<std::uint8_t>()); }},     // BININT1
        {'M', [](M& m) { m.push_integer(m.number<std::uint16_t>()); }},    // BININT2
        {0x8a, [](M& m) { m.push_long(m.number<std::uint8_t>()); }},       // LONG1
        {0x8b, [](M& m) { m.push_long(m.number<std::uint32_t>()); }},      // LONG4
        {'G', [](M& m) { m.push_real(); }},                                // BINFLOAT
        {'X', [](M& m) { m.push_text(m.number<std::uint32_t>()); }},       // BINUNICODE
        {'T', [](M& m) { m.push_text(m.number<std::uint32_t>()); }},       // BINSTRING
        {'B', [](M& m) { m.push_text(m.number<std::uint32_t>()); }},       // BINBYTES
        {0x8c, [](M& m) { m.push_text(m.number<std::uint8_t>()); }},       // SHORT_BINUNICODE
        {'U', [](M& m) { m.push_text(m.number<std::uint8_t>()); }},        // SHORT_BINSTRING
        {'C', [](M& m) { m.push_text(m.number<std::uint8_t>()); }},        // SHORT_BINBYTES
        {0x8d, [](M& m) { m.push_text(m.number<std::uint64_t>()); }},      // BINUNICODE8
        {0x8e, [](M& m) { m.push_text(m.number<std::uint64_t>()); }},      // BINBYTES8
        {'h', [](M& m) { m.recall(m.number<std::uint8_t>()); }},           // BINGET
        {'j', [](M& m) { m.recall(m.number<std::uint32_t>()); }},          // LONG_BINGET
        {'q', [](M& m) { m.remember(m.number<std::uint8_t>()); }},         // BINPUT
        {'r', [](M& m) { m.remember(m.number<std::uint32_t>()); }},        // LONG_BINPUT
        {0x94, [](M& m) { m.remember(m.memo_.size()); }},                  // MEMOIZE
        {']', [](M& m) { m.push_all(Kind::list, {}); }},                   // EMPTY_LIST
        {')', [](M& m) { m.push_all(Kind::list, {}); }},                   // EMPTY_TUPLE
        {'l', [](M& m) { m.push_all(Kind::list, m.pop_to_mark()); }},      // LIST
        {'t', [](M& m) { m.push_all(Kind::list, m.pop_to_mark()); }},      // TUPLE
        {0x85, [](M& m) { m.push_all(Kind::list, m.last(1)); }},           // TUPLE1
        {0x86, [](M& m) { m.push_all(Kind::list, m.last(2)); }},           // TUPLE2
        {0x87, [](M& m) { m.push_all(Kind::list, m.last(3)); }},           // TUPLE3
        {'}', [](M& m) { m.push_all(Kind::dictionary, {}); }},             // EMPTY_DICT
        {'a', [](M& m) { m.append(Kind::list, m.last(1)); }},              // APPEND
        {'e', [](M& m) { m.append(Kind::list, m.pop_to_mark()); }},        // APPENDS
        {'s', [](M& m) { m.append(Kind::dictionary, m.last(2)); }},        // SETITEM
        {'u', [](M& m) { m.append(Kind::dictionary, m.pop_to_mark()); }},  // SETITEMS
        {'c', [](M& m) { m.push_global(); }},                              // GLOBAL
        {0x93, [](M& m) { m.push_stacked_global(); }},                     // STACK_GLOBAL
        {'R', [](M& m) { m.call(); }},                                     // REDUCE
        {'b', [](M& m) { m.set_state(); }},                                // BUILD
        {'Q', [](M& m) { m.push_storage(); }},                             // BINPERSID
    };
    return table;
  }

  void push_real() {  // big-endian
    std::uint64_t bits = 0;
    for (const char c : take(8)) bits = bits << 8U | static_cast<unsigned char>(c);
    push({Kind::real, 0, std::bit_cast<double>(bits)});
  }

  void push_all(Kind kind, std::vector<Index> items) { push({kind, 0, 0, {}, std::move(items)}); }
  // The last values of the stack, in their order.
  std::vector<Index> last(std::size_t count) {
    std::vector<Index> items(count);
    for (std::size_t i = count; i-- > 0;) items[i] = pop();
    return items;
  }
  void append(Kind kind, const std::vector<Index>& added) {
    if (kind == Kind::dictionary && added.size() % 2 != 0)
      unreadable("a dictionary has a key without a value");
    count_items(added.size());
    std::vector<Index>& items = top(kind).items;
    items.insert(items.end(), added.begin(), added.end());
  }

  void push_name(std::string_view module, std::string_view name) {
    std::string joined = std::string(module) + " " + std::string(name);
    if (!is_known(joined) && !is_among(joined, allowed_))
      unreadable(format("it names {}.{}, which could run code. Only tensors, numbers and text are read",
                        shown_name(module), shown_name(name)));
    const auto found = std::find(into_.names_.begin(), into_.names_.end(), joined);
    const std::size_t place = static_cast<std::size_t>(found - into_.names_.begin());
    if (found == into_.names_.end()) into_.names_.push_back(std::move(joined));
    push({Kind::name, static_cast<std::int64_t>(place)});
  }
  const std::string& name_of(Index index) const {
    const PickledValue& callee = value(index);
    if (callee.kind != Kind::name) unreadable("it calls a value that is no function");
    return into_.name(callee);
  }

  void push_global() {
    const std::string_view module = line();
    push_name(module, line());
  }
  void push_stacked_global() {
    const Index name = pop(), module = pop();
    if (value(name).kind != Kind::text || value(module).kind != Kind::text) unreadable("a name is no text");
    push_name(value(module).text, value(name).text);
  }

  // The result of a known function, without calling it.
  void call() {
    const Index arguments = pop(), function = pop();
    const std::string& name = name_of(function);
    if (value(arguments).kind != Kind::list) unreadable("the arguments of a function are no tuple");
    const std::vector<Index>& all = value(arguments).items;
    const std::vector<Index> given(all.begin(), all.begin() + std::min<std::ptrdiff_t>(7, std::ssize(all)));
    if (name == rebuild_tensor) return push_tensor(given);
    if (name == ordered_dictionary && given.empty()) return push_all(Kind::dictionary, {});
    if ((name == rebuild_parameter || name == torch_size) && !given.empty())
      return stack_.push_back(given[0]);
    if (!is_one_of(name, opaque_functions))
      unreadable(format("it calls {} in a way that is not known", shown_name(name)));
    push({Kind::opaque});
  }
  void push_tensor(const std::vector<Index>& given) {
    if (given.size() < 4 || value(given[0]).kind != Kind::storage || value(given[1]).kind != Kind::integer ||
        value(given[2]).kind != Kind::list || value(given[3]).kind != Kind::list)
      unreadable("a tensor lacks its storage, offset, shape or strides");
    constexpr std::size_t metadata = 6;
    if (given.size() > metadata && value(given[metadata]).kind == Kind::dictionary &&
        !value(given[metadata]).items.empty())
      unreadable("a tensor is stored negated or conjugated. Save its clone");
    push_all(Kind::tensor, {given.begin(), given.begin() + 4});
  }

  // The state of a known object is not used, for example the versions in a state_dict.
  void set_state() {
    pop();
    const Index object = pop();
    const Kind kind = value(object).kind;
    if (kind != Kind::dictionary && kind != Kind::opaque)
      unreadable("it sets the state of an unknown object");
    stack_.push_back(object);
  }

  // ('storage', type, key, device, number of elements)
  void push_storage() {
    const Index at = pop();
    const std::vector<Index> given = value(at).items;
    if (value(at).kind != Kind::list || given.size() < 5 || value(given[0]).text != "storage" ||
        value(given[1]).kind != Kind::name || value(given[2]).kind != Kind::text ||
        value(given[4]).kind != Kind::integer)
      unreadable("a storage lacks its type, key or size");
    push({Kind::storage, value(given[4]).integer, 0, value(given[2]).text, {given[1]}});
  }

  std::string_view rest_;
  const std::size_t most_items_;  // a pickle of this size cannot make more
  std::size_t items_ = 0;
  const std::vector<std::string>& allowed_;
  Pickle& into_;
  std::vector<Index> stack_;
  std::vector<std::size_t> marks_;  // sizes of the stack
  std::unordered_map<std::size_t, Index> memo_;
};

Pickle::Pickle(std::string_view bytes, const std::vector<std::string>& names) {
  if (bytes.size() > largest_pickle)
    unreadable(format("it is larger than {} MiB, which no description of tensors is", largest_pickle >> 20U));
  PickleMachine(bytes, names, *this).run();
}

const std::string& Pickle::name(const PickledValue& value) const {
  return names_[static_cast<std::size_t>(value.integer)];
}

const PickledValue* Pickle::find(const PickledValue& dictionary, std::string_view key) const {
  if (dictionary.kind != Kind::dictionary) return nullptr;
  for (std::size_t i = dictionary.items.size(); i >= 2; i -= 2) {
    const PickledValue& name = values_[dictionary.items[i - 2]];
    if (name.kind == Kind::text && name.text == key) return &values_[dictionary.items[i - 1]];
  }
  return nullptr;
}

}  // namespace voxswap::pipeline
