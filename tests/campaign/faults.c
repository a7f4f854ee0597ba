// A library to preload (LD_PRELOAD) that lets one call of the system fail, or tells which calls were made.
//
//   VOXSWAP_FAULT=write:5:ENOSPC    the fifth write fails; write:5:short moves half of what was asked;
//   write:5+:EIO
//                                   the fifth and all that follow; write:5x100:EINTR the fifth and 99 more;
//                                   write:5:KILL ends the process there
//   VOXSWAP_FAULT_MARK=FILE         is made when a call has failed, so that a trial knows whether it was
//   reached; holds
//                                   the name of the program or library whose call it was
//   VOXSWAP_FAULT_COUNTS=FILE       how often each kind of call was made, at the end
//   VOXSWAP_FAULT_ORDER=FILE        writes, syncs and renames, one a line, in their order
//
// Calls count from the beginning of main() to its end: what loading the program's libraries does is none of
// it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>
#include <unwind.h>

enum Kind {
  k_open,
  k_close,
  k_read,
  k_pread,
  k_write,
  k_pwrite,
  k_fwrite,
  k_fsync,
  k_rename,
  k_mkdir,
  k_mmap,
  k_malloc,
  k_thread,
  k_fallocate,
  kinds
};
static const char* const names[kinds] = {"open",   "close",  "read",   "pread",    "write",
                                         "pwrite", "fwrite", "fsync",  "rename",   "mkdir",
                                         "mmap",   "malloc", "thread", "fallocate"};
static atomic_long counts[kinds];
static atomic_int armed;
static int kind_that_fails = -1, error_to_give, shortened, kills;
static long number_that_fails, last_that_fails;
static const char *mark_file, *counts_file;
static int order = -1;

static int error_named(const char* name) {
  const struct {
    const char* name;
    int number;
  } table[] = {{"EIO", EIO},       {"ENOSPC", ENOSPC}, {"EINTR", EINTR},   {"ENOMEM", ENOMEM},
               {"EAGAIN", EAGAIN}, {"EMFILE", EMFILE}, {"EACCES", EACCES}, {"EDQUOT", EDQUOT}};
  for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i)
    if (strcmp(name, table[i].name) == 0) return table[i].number;
  return EIO;
}

static void read_settings(void) {
  mark_file = getenv("VOXSWAP_FAULT_MARK");
  counts_file = getenv("VOXSWAP_FAULT_COUNTS");
  const char* log = getenv("VOXSWAP_FAULT_ORDER");
  if (log != NULL)
    order = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  const char* text = getenv("VOXSWAP_FAULT");
  char kind[16] = "", number[16] = "", error[16] = "";
  if (text == NULL || sscanf(text, "%15[^:]:%15[^:]:%15s", kind, number, error) != 3) return;
  for (int k = 0; k < kinds; ++k)
    if (strcmp(kind, names[k]) == 0) kind_that_fails = k;
  number_that_fails = atol(number);
  const char* const times = strchr(number, 'x');
  last_that_fails =
      strchr(number, '+') != NULL ? LONG_MAX : number_that_fails + (times != NULL ? atol(times + 1) - 1 : 0);
  shortened = strcmp(error, "short") == 0;
  kills = strcmp(error, "KILL") == 0;
  error_to_give = error_named(error);
}

// The first object on the stack that is neither this library nor the C library; of the C++ library one call,
// operator new, is passed over.
struct Caller {
  const char* name;
  int passed;
};

static const char* base_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash == NULL ? path : slash + 1;
}

static _Unwind_Reason_Code look_at(struct _Unwind_Context* context, void* data) {
  struct Caller* caller = data;
  Dl_info object;
  if (dladdr((void*)_Unwind_GetIP(context), &object) == 0 || object.dli_fname == NULL) return _URC_NO_REASON;
  const char* name = base_name(object.dli_fname);
  if (strncmp(name, "libc.so", 7) == 0 || strstr(name, "voxswap_faults") != NULL) return _URC_NO_REASON;
  if (strncmp(name, "libstdc++", 9) == 0 && caller->passed++ == 0) return _URC_NO_REASON;
  caller->name = name;
  return _URC_END_OF_STACK;
}

static void leave_mark(void) {
  const long mark = syscall(SYS_openat, AT_FDCWD, mark_file, O_WRONLY | O_CREAT, 0666);
  struct Caller caller = {"unknown", 0};
  if (mark < 0) return;
  _Unwind_Backtrace(look_at, &caller);
  syscall(SYS_write, mark, caller.name, strlen(caller.name));
  syscall(SYS_close, mark);
}

// Whether this call is one that fails. Sets errno then.
static int fails(enum Kind kind) {
  if (!atomic_load(&armed)) return 0;
  const long number = atomic_fetch_add(&counts[kind], 1) + 1;
  if ((int)kind != kind_that_fails || number < number_that_fails || number > last_that_fails) return 0;
  if (mark_file != NULL && number == number_that_fails) leave_mark();
  if (kills) raise(SIGKILL);
  if (!shortened) errno = error_to_give;
  return 1;
}

static void note(const char* what, int descriptor, const char* path) {
  struct stat status;
  if (order < 0 || !atomic_load(&armed)) return;
  if ((path != NULL ? stat(path, &status) : fstat(descriptor, &status)) != 0) return;
  char line[160];
  const int size =
      snprintf(line, sizeof line, "%s %s %lu:%lu\n", what, S_ISDIR(status.st_mode) ? "folder" : "file",
               (unsigned long)status.st_dev, (unsigned long)status.st_ino);
  if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) syscall(SYS_write, order, line, (size_t)size);
}

static void note_rename(const char* to) {
  char folder[4096];
  snprintf(folder, sizeof folder, "%s", to);
  char* slash = strrchr(folder, '/');
  if (slash == NULL)
    strcpy(folder, ".");
  else
    slash[slash == folder ? 1 : 0] = '\0';
  note("renamed", -1, to);
  note("into", -1, folder);
}

// The library's own, found when first asked for.
#define REAL(name)               \
  static __typeof__(&name) real; \
  if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, #name)

static mode_t mode_of(int flags, va_list rest) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? (mode_t)va_arg(rest, int) : 0;
}

#define DEFINE_OPEN(name)                                \
  int name(const char* path, int flags, ...) {           \
    REAL(name);                                          \
    va_list rest;                                        \
    va_start(rest, flags);                               \
    const mode_t mode = mode_of(flags, rest);            \
    va_end(rest);                                        \
    return fails(k_open) ? -1 : real(path, flags, mode); \
  }
DEFINE_OPEN(open)
DEFINE_OPEN(open64)

#define DEFINE_FOPEN(name)                          \
  FILE* name(const char* path, const char* mode) {  \
    REAL(name);                                     \
    return fails(k_open) ? NULL : real(path, mode); \
  }
DEFINE_FOPEN(fopen)
DEFINE_FOPEN(fopen64)

// A close that fails has closed, as on Linux.
int close(int descriptor) {
  REAL(close);
  const int failed = fails(k_close), error = errno, result = real(descriptor);
  if (failed) errno = error;
  return failed ? -1 : result;
}

ssize_t read(int descriptor, void* bytes, size_t size) {
  REAL(read);
  if (fails(k_read)) {
    if (!shortened) return -1;
    size = (size + 1) / 2;
  }
  return real(descriptor, bytes, size);
}

#define DEFINE_PREAD(name)                                               \
  ssize_t name(int descriptor, void* bytes, size_t size, off_t offset) { \
    REAL(name);                                                          \
    if (fails(k_pread)) {                                                \
      if (!shortened) return -1;                                         \
      size = (size + 1) / 2;                                             \
    }                                                                    \
    return real(descriptor, bytes, size, offset);                        \
  }
DEFINE_PREAD(pread)
DEFINE_PREAD(pread64)

ssize_t write(int descriptor, const void* bytes, size_t size) {
  REAL(write);
  if (fails(k_write)) {
    if (!shortened) return -1;
    size = (size + 1) / 2;
  }
  note("write", descriptor, NULL);
  return real(descriptor, bytes, size);
}

#define DEFINE_PWRITE(name)                                                    \
  ssize_t name(int descriptor, const void* bytes, size_t size, off_t offset) { \
    REAL(name);                                                                \
    if (fails(k_pwrite)) {                                                     \
      if (!shortened) return -1;                                               \
      size = (size + 1) / 2;                                                   \
    }                                                                          \
    return real(descriptor, bytes, size, offset);                              \
  }
DEFINE_PWRITE(pwrite)
DEFINE_PWRITE(pwrite64)

size_t fwrite(const void* bytes, size_t size, size_t count, FILE* file) {
  REAL(fwrite);
  if (fails(k_fwrite)) return shortened ? real(bytes, size, count / 2, file) : 0;
  note("write", fileno(file), NULL);
  return real(bytes, size, count, file);
}

#define DEFINE_SYNC(name)           \
  int name(int descriptor) {        \
    REAL(name);                     \
    if (fails(k_fsync)) return -1;  \
    note("sync", descriptor, NULL); \
    return real(descriptor);        \
  }
DEFINE_SYNC(fsync)
DEFINE_SYNC(fdatasync)

int rename(const char* from, const char* to) {
  REAL(rename);
  if (fails(k_rename)) return -1;
  const int result = real(from, to);
  if (result == 0) note_rename(to);
  return result;
}

int mkdir(const char* path, mode_t mode) {
  REAL(mkdir);
  return fails(k_mkdir) ? -1 : real(path, mode);
}

#define DEFINE_FALLOCATE(name)                                                  \
  int name(int descriptor, off_t offset, off_t size) {                          \
    REAL(name);                                                                 \
    return fails(k_fallocate) ? error_to_give : real(descriptor, offset, size); \
  }
DEFINE_FALLOCATE(posix_fallocate)
DEFINE_FALLOCATE(posix_fallocate64)

#define DEFINE_MMAP(name)                                                                      \
  void* name(void* at, size_t size, int protection, int flags, int descriptor, off_t offset) { \
    REAL(name);                                                                                \
    return fails(k_mmap) ? MAP_FAILED : real(at, size, protection, flags, descriptor, offset); \
  }
DEFINE_MMAP(mmap)
DEFINE_MMAP(mmap64)

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*begin)(void*),
                   void* argument) {
  REAL(pthread_create);
  return fails(k_thread) ? EAGAIN : real(thread, attributes, begin, argument);
}

// glibc's allocator under its inner names: dlsym() allocates itself.
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void*, size_t),
    *__libc_memalign(size_t, size_t);

void* malloc(size_t size) {
  return fails(k_malloc) ? NULL : __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  return fails(k_malloc) ? NULL : __libc_calloc(count, size);
}
void* realloc(void* old, size_t size) {
  return fails(k_malloc) ? NULL : __libc_realloc(old, size);
}
void* memalign(size_t unit, size_t size) {
  return fails(k_malloc) ? NULL : __libc_memalign(unit, size);
}
void* aligned_alloc(size_t unit, size_t size) {
  return fails(k_malloc) ? NULL : __libc_memalign(unit, size);
}
int posix_memalign(void** memory, size_t unit, size_t size) {
  void* const got = fails(k_malloc) ? NULL : __libc_memalign(unit, size);
  if (got == NULL) return ENOMEM;
  *memory = got;
  return 0;
}

static int (*program)(int, char**, char**);

static void write_counts(void) {
  if (counts_file == NULL) return;
  const int file = (int)syscall(SYS_openat, AT_FDCWD, counts_file, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (file < 0) return;
  for (int k = 0; k < kinds; ++k) dprintf(file, "%s %ld\n", names[k], atomic_load(&counts[k]));
  syscall(SYS_close, file);
}

static int counted_main(int count, char** values, char** environment) {
  read_settings();
  unsetenv("LD_PRELOAD");  // its child processes are left alone
  atomic_store(&armed, 1);
  const int result = program(count, values, environment);
  atomic_store(&armed, 0);
  write_counts();
  return result;
}

int __libc_start_main(int (*entry)(int, char**, char**), int count, char** values, void (*begin)(void),
                      void (*end)(void), void (*loader_end)(void), void* stack_end) {
  int (*real)(int (*)(int, char**, char**), int, char**, void (*)(void), void (*)(void), void (*)(void),
              void*);
  *(void**)&real = dlsym(RTLD_NEXT, "__libc_start_main");
  program = entry;
  return real(counted_main, count, values, begin, end, loader_end, stack_end);
}
