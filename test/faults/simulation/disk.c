/*
 * A disk that fails, for the simulation of the service. Loaded with LD_PRELOAD. SIM_FILES is the folder whose files are on
 * this disk, SIM_SYNCED the folder with a copy of each file as it was last synced, and SIM_CONTROL a file of 64-bit numbers
 * that the simulation changes while the process runs (disk.ts):
 *
 *   0 which operation fails    1 after how many operations    2 operations so far    3 how often it has failed
 *
 * A file `name` whose name is on the disk, too, has an empty file `name.named` next to its copy.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NOTHING, WRITE_EIO, FULL, SHORT_WRITE, SYNC_EIO, LOST_SYNC, READ_EIO, CRASH };
enum { KIND, AFTER, COUNT, HITS };
#define FILES 4096

static int64_t none[4];
static volatile int64_t *control = none;
static char folder[PATH_MAX], synced[PATH_MAX];
static size_t folder_length;
static char *paths[FILES];

__attribute__((constructor)) static void start(void) {
  const char *path = getenv("SIM_CONTROL");
  if (!path || !getenv("SIM_FILES") || !getenv("SIM_SYNCED")) return;
  int file = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void *memory = mmap(NULL, sizeof none, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory != MAP_FAILED) control = memory;
  syscall(SYS_close, file);
  snprintf(folder, sizeof folder, "%s/", getenv("SIM_FILES"));
  snprintf(synced, sizeof synced, "%s/", getenv("SIM_SYNCED"));
  folder_length = strlen(folder);
}

static int is_ours(const char *path) {
  return folder_length > 0 && strncmp(path, folder, folder_length) == 0;
}

static const char *path_of(int file) {
  return file >= 0 && file < FILES ? paths[file] : NULL;
}

/* Whether this operation fails, and the number of the fault. A crash and a full disk last. */
static int fault(int is_write, int is_sync, int is_read) {
  if (control[KIND] == CRASH && control[HITS] > 0) return CRASH;
  int kind = control[KIND];
  int fits = kind == CRASH ? !is_read : kind == READ_EIO ? is_read : kind == SYNC_EIO || kind == LOST_SYNC ? is_sync : is_write;
  if (!is_read) control[COUNT]++;
  if (kind == NOTHING || !fits) return NOTHING;
  if (control[AFTER] > 0) {
    control[AFTER]--;
    return NOTHING;
  }
  control[HITS]++;
  return kind;
}

/* The copy of a file: its path with `%` for each slash. */
static void copy_name(char *into, const char *path, const char *suffix) {
  char name[PATH_MAX];
  snprintf(name, sizeof name, "%s", path + folder_length);
  for (char *c = name; *c; c++)
    if (*c == '/') *c = '%';
  snprintf(into, PATH_MAX, "%.2000s%.2000s%s", synced, name, suffix);
}

static void touch(const char *path) {
  int file = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file >= 0) syscall(SYS_close, file);
}

static void keep_content(const char *path) {
  char name[PATH_MAX];
  copy_name(name, path, "");
  int copy = syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (copy < 0) abort();
  static char buffer[1 << 16];
  int from = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
  for (int64_t count; from >= 0 && (count = syscall(SYS_read, from, buffer, sizeof buffer)) > 0;)
    if (syscall(SYS_write, copy, buffer, count) != count) abort();
  if (from >= 0) syscall(SYS_close, from);
  syscall(SYS_close, copy);
}

/* The names in a folder are on the disk: files that are there are found, and those that were removed are not. */
static void keep_names(const char *path) {
  char prefix[PATH_MAX], name[PATH_MAX], full[PATH_MAX];
  snprintf(full, sizeof full, "%.2000s/x", path);
  copy_name(prefix, full, "");
  size_t length = strlen(prefix) - 1;
  DIR *copies = opendir(synced);
  for (struct dirent *entry; copies && (entry = readdir(copies));) {
    snprintf(name, sizeof name, "%.2000s%.2000s", synced, entry->d_name);
    size_t end = strlen(name);
    if (end > 6 && strcmp(name + end - 6, ".named") == 0) end -= 6;
    if (strncmp(name, prefix, length) != 0 || memchr(name + length, '%', end - length)) continue;
    snprintf(full, sizeof full, "%.2000s/%.*s", path, (int)(end - length), name + length);
    struct stat found;
    if (stat(full, &found) != 0) unlink(name);
  }
  if (copies) closedir(copies);
  DIR *files = opendir(path);
  for (struct dirent *entry; files && (entry = readdir(files));) {
    if (entry->d_name[0] == '.') continue;
    snprintf(full, sizeof full, "%.2000s/%.2000s", path, entry->d_name);
    copy_name(name, full, ".named");
    touch(name);
  }
  if (files) closedir(files);
}

static void forget(const char *path) {
  char name[PATH_MAX];
  copy_name(name, path, "");
  unlinkat(AT_FDCWD, name, 0);
  copy_name(name, path, ".named");
  unlinkat(AT_FDCWD, name, 0);
}

static int opened(int file, const char *path) {
  if (file < 0 || file >= FILES) return file;
  free(paths[file]);
  paths[file] = is_ours(path) || strncmp(path, folder, folder_length - 1) == 0 ? strdup(path) : NULL;
  return file;
}

static int open_at(int at, const char *path, int flags, mode_t mode) {
  if (is_ours(path) && (flags & (O_CREAT | O_TRUNC)) && access(path, F_OK) != 0) {
    int kind = fault(1, 0, 0);
    if (kind != NOTHING && kind != SHORT_WRITE) {
      errno = kind == FULL ? ENOSPC : EIO;
      return -1;
    }
  }
  /* A new file has nothing of one of the same name that was removed. */
  if (is_ours(path) && (flags & O_CREAT) && access(path, F_OK) != 0) forget(path);
  int file = syscall(SYS_openat, at, path, flags, mode);
  return folder_length > 0 ? opened(file, path) : file;
}

#define MODE(flags) \
  mode_t mode = 0; \
  if (flags & (O_CREAT | O_TMPFILE)) { \
    va_list rest; \
    va_start(rest, flags); \
    mode = va_arg(rest, mode_t); \
    va_end(rest); \
  }

int open(const char *path, int flags, ...) {
  MODE(flags)
  return open_at(AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...) {
  MODE(flags)
  return open_at(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}
int openat(int at, const char *path, int flags, ...) {
  MODE(flags)
  return open_at(at, path, flags, mode);
}
int openat64(int at, const char *path, int flags, ...) {
  MODE(flags)
  return open_at(at, path, flags | O_LARGEFILE, mode);
}

int close(int file) {
  if (file >= 0 && file < FILES && paths[file]) {
    free(paths[file]);
    paths[file] = NULL;
  }
  return syscall(SYS_close, file);
}

/* How many bytes of a write reach the file; -1 with errno for a failure. */
static ssize_t room(int file, size_t count) {
  if (!path_of(file)) return count;
  switch (fault(1, 0, 0)) {
    case WRITE_EIO:
      errno = EIO;
      return -1;
    case CRASH:
      if (control[HITS] == 1) {
        control[HITS]++;
        return count / 2;
      }
      errno = EIO;
      return -1;
    case FULL:
      errno = ENOSPC;
      return -1;
    case SHORT_WRITE:
      control[KIND] = FULL;
      return count > 1 ? count / 2 : count;
    default:
      return count;
  }
}

static ssize_t write_at(int file, const void *bytes, size_t count, off_t at) {
  ssize_t allowed = room(file, count);
  return allowed < 0 ? -1 : syscall(SYS_pwrite64, file, bytes, allowed, at);
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t at) {
  return write_at(file, bytes, count, at);
}
ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t at) {
  return write_at(file, bytes, count, at);
}
ssize_t write(int file, const void *bytes, size_t count) {
  ssize_t allowed = room(file, count);
  return allowed < 0 ? -1 : syscall(SYS_write, file, bytes, allowed);
}

static ssize_t read_at(int file, void *into, size_t count, off_t at) {
  if (path_of(file) && fault(0, 0, 1) == READ_EIO) {
    errno = EIO;
    return -1;
  }
  return syscall(SYS_pread64, file, into, count, at);
}

ssize_t pread(int file, void *into, size_t count, off_t at) {
  return read_at(file, into, count, at);
}
ssize_t pread64(int file, void *into, size_t count, off64_t at) {
  return read_at(file, into, count, at);
}

static int change_length(int file, off_t length) {
  int kind = path_of(file) ? fault(1, 0, 0) : NOTHING;
  if (kind == NOTHING || kind == SHORT_WRITE || kind == FULL) return syscall(SYS_ftruncate, file, length);
  errno = EIO;
  return -1;
}

int ftruncate(int file, off_t length) {
  return change_length(file, length);
}
int ftruncate64(int file, off64_t length) {
  return change_length(file, length);
}

static int sync_file(int file) {
  const char *path = path_of(file);
  if (!path) return 0;
  int kind = fault(0, 1, 0);
  if (kind == SYNC_EIO || kind == CRASH) {
    errno = EIO;
    return -1;
  }
  if (kind == LOST_SYNC) return 0;
  struct stat found;
  if (fstat(file, &found) == 0 && S_ISDIR(found.st_mode)) keep_names(path);
  else if (is_ours(path)) keep_content(path);
  return 0;
}

int fsync(int file) {
  return path_of(file) ? sync_file(file) : syscall(SYS_fsync, file);
}
int fdatasync(int file) {
  return path_of(file) ? sync_file(file) : syscall(SYS_fdatasync, file);
}

/* Names change at once; the copies follow them, but a new name is on the disk after a sync of its folder. */
int rename(const char *from, const char *to) {
  if (is_ours(from) && fault(1, 0, 0) == CRASH) {
    errno = EIO;
    return -1;
  }
  int result = syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
  if (result == 0 && is_ours(from) && is_ours(to)) {
    char old[PATH_MAX], new[PATH_MAX];
    copy_name(old, from, "");
    copy_name(new, to, "");
    syscall(SYS_renameat2, AT_FDCWD, old, AT_FDCWD, new, 0);
    copy_name(old, from, ".named");
    unlinkat(AT_FDCWD, old, 0);
  }
  return result;
}

int unlink(const char *path) {
  if (is_ours(path) && fault(1, 0, 0) == CRASH) {
    errno = EIO;
    return -1;
  }
  return syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}
